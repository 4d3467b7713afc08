"""State, heartbeats, notes of messages and permits without DynamoDB: in memory, and in files on one machine."""

from tidegate.stores.file import FileStore
from tidegate.stores.memory import MemoryStore
from tidegate.stores.notes import FileNotes, MemoryNotes
from tidegate.stores.permits import FilePermits, MemoryPermits

__all__ = ["FileNotes", "FilePermits", "FileStore", "MemoryNotes", "MemoryPermits", "MemoryStore"]
