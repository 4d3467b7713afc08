"""An outsider's judge: `decide` in a simulator that shares nothing with `tidegate.lab`.

It is written from the documents and the public API (`tidegate`, `tidegate.core`) alone, message by message, with its
own idea of SQS, ECS and what companies send through them; a test holds that it imports nothing else of tidegate's.
"""
