"""State, heartbeats and notes of messages without DynamoDB: in memory, and in files on one machine."""

from tidegate.stores.file import FileStore
from tidegate.stores.memory import MemoryStore
from tidegate.stores.notes import FileNotes, MemoryNotes

__all__ = ["FileNotes", "FileStore", "MemoryNotes", "MemoryStore"]
