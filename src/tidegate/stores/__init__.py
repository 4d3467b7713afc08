"""State, heartbeats, notes of messages and permits without DynamoDB: in memory, and in files on one machine.

Nothing is imported here: the files' part brings asyncio along, which a controller in Lambda has no use for.
"""
