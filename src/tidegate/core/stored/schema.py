"""The version of what is stored."""

__all__ = ["SCHEMA"]

SCHEMA = 1
"""Version of the stored shapes (`PoolState`, `Observation`, `Decision`). Another version is refused, never misread."""
