"""The settings: one TOML file, overridden by TIDEGATE_… variables, checked as a whole.

`load` gives settings or raises every fault at once; `PoolSettings.at` gives what a decision needs at a moment.
"""

from tidegate.config.loading import Loaded, assemble, load, load_text
from tidegate.config.models import Settings
from tidegate.config.pool import PoolSettings
from tidegate.config.schema import json_schema
from tidegate.config.summary import describe
from tidegate.config.tables import EcsService, Ramp, Window

__all__ = [
    "EcsService",
    "Loaded",
    "PoolSettings",
    "Ramp",
    "Settings",
    "Window",
    "assemble",
    "describe",
    "json_schema",
    "load",
    "load_text",
]
