"""Paths in settings, as a program takes them: no shell has read them before."""

import re
from typing import Final

__all__ = ["not_local"]

_URL: Final = re.compile(r"[a-z][a-z0-9+.-]+:/.*", re.ASCII | re.IGNORECASE | re.DOTALL)
"""With one slash too: that is what a `Path` makes of two."""


def not_local(path: str) -> str:
    """Why the path is surely not the one that is meant; "" when it may be. As "PROBLEM; what to write".

    Either would be made, as a folder of that name under the current one.

    >>> not_local("s3://bucket/states"), not_local("~/states"), not_local("/var/lib/~tidegate")
    ('is a URL; write a path on this machine', 'has a ~, which only a shell knows; write the path in full', '')
    """
    if _URL.fullmatch(path):
        return "is a URL; write a path on this machine"
    if path.startswith("~"):
        return "has a ~, which only a shell knows; write the path in full"
    return ""
