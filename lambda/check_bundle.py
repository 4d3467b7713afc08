"""Says what is wrong with a bundle before AWS does.

    python check_bundle.py BUNDLE.zip ARCH PYTHON_VERSION

Native code of another machine or another Python installs without a word and fails at the first call, byte code of
another Python is of no use; a zip that is too large is refused at the upload.
"""

import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

LARGEST = 25 * 1024 * 1024
"""Bytes, zipped. Lambda's own limits are 50 MB zipped and 250 MB unpacked:
https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html"""
LARGEST_UNPACKED = 250 * 1024 * 1024

MACHINES = {"x86_64": 62, "aarch64": 183}
"""e_machine of an ELF header: https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.eheader.html and its registry."""

_HANDLER = "tidegate/entrypoints/lambda_handler.py"


def faults(bundle: Path, arch: str, python: str) -> Iterator[str]:
    """One line for each thing that would fail. `arch` is a key of MACHINES, `python` such as "3.13"."""
    size = bundle.stat().st_size
    if size > LARGEST:
        yield f"{bundle.name} has {size:,} bytes, more than {LARGEST:,}: leave more out (lambda/bundle.py)"
    with zipfile.ZipFile(bundle) as packed:
        unpacked = sum(entry.file_size for entry in packed.infolist())
        if unpacked > LARGEST_UNPACKED:
            yield f"{bundle.name} unpacks to {unpacked:,} bytes, more than {LARGEST_UNPACKED:,}"
        if _HANDLER not in packed.namelist():
            yield f"{bundle.name} does not hold {_HANDLER}"
        for name in packed.namelist():
            if name.endswith(".so"):
                yield from _library_faults(name, packed.read(name), arch)
            if name.endswith((".so", ".pyc")):
                yield from _python_faults(name, python)


def _library_faults(name: str, data: bytes, arch: str) -> Iterator[str]:
    machine = int.from_bytes(data[18:20], "little") if data[:4] == b"\x7fELF" else None
    if machine != MACHINES[arch]:
        yield f"{name} is for machine {machine}, not {arch} ({MACHINES[arch]})"


def _python_faults(name: str, python: str) -> Iterator[str]:
    tag = re.search(r"\.cpython-(\d+)[-.]", name)
    if tag and tag[1] != python.replace(".", ""):
        yield f"{name} is for CPython {tag[1]}, not {python}"


if __name__ == "__main__":
    found = [*faults(Path(sys.argv[1]), *sys.argv[2:4])]
    sys.exit("\n".join(found) if found else 0)
