"""Paths as people give them: which can't be meant, and what is no file to read."""

import re
import stat
from typing import Final

__all__ = ["no_file", "not_local"]

_INHERITED: Final = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
"""Streams that the shell has opened already, as `<(command)` is: they may be read, of whatever kind they are."""

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


def no_file(path: str, mode: int) -> str:
    """Why what `path` leads to is no file to read, by its `st_mode`; "" when it is one.

    A named pipe would be waited for until somebody writes into it, and most devices never end.

    >>> no_file("settings.toml", stat.S_IFREG), no_file("/dev/fd/63", stat.S_IFIFO), no_file("pipe", stat.S_IFIFO)
    ('', '', 'is a named pipe')
    >>> no_file("/etc", stat.S_IFDIR), no_file("/dev/zero", stat.S_IFCHR)
    ('is a directory', 'is a device or a socket')
    """
    if stat.S_ISDIR(mode):
        return "is a directory"
    if stat.S_ISREG(mode) or path.startswith(_INHERITED):
        return ""
    return "is a named pipe" if stat.S_ISFIFO(mode) else "is a device or a socket"
