"""State and heartbeats without DynamoDB: in memory, and in files on one machine."""

from tidegate.stores.file import FileStore
from tidegate.stores.memory import MemoryStore

__all__ = ["FileStore", "MemoryStore"]
