"""Packs the function (installed packages, tidegate's own code, settings if any) as a zip that is always the same.

    python bundle.py PYTHON_VERSION PACKAGES SOURCE OUT.zip [SETTINGS]

The same inputs give the same bytes, whenever and wherever it runs: entries are sorted and have one date and two modes,
and what an installation writes about itself (scripts, records, byte code) stays out. So does what the function can't
use: the models of AWS services that it never calls (most of botocore by size), the lab and the sandbox.

Run by the function's own Python (PYTHON_VERSION), it adds byte code: a function can't write any beside its code, and
would compile everything again at each cold start, which takes longer than all the rest of it.
"""

import importlib.util
import marshal
import sys
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

_DATE = (1980, 1, 1, 0, 0, 0)
"""The earliest that a zip can hold."""
_FILE, _LIBRARY = 0o644, 0o755
_THIS_PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
_OWN_WRITINGS = frozenset({"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"})
_LEFT_OUT = frozenset({"__pycache__", "bin"})
_UNUSED = ("boto3/examples/", "tidegate/lab/", "tidegate/sandbox/")
_SERVICES = frozenset({"autoscaling", "cloudwatch", "dynamodb", "ecs", "s3", "sqs", "ssm", "sts"})
"""Those that the controller calls, and the one that roles are assumed by."""


def entries(packages: Path, source: Path, settings: Path | None, python: str) -> Iterator[tuple[str, bytes]]:
    """(name in the zip, content) of everything, in the zip's order."""
    found = {name: path for root in (packages, source) for name, path in _files(root)}
    if settings is not None:
        found["tidegate.toml"] = settings
    compiles = python == _THIS_PYTHON
    for name, path in sorted(found.items()):
        content = path.read_bytes()
        yield name, content
        if compiles and name.endswith(".py"):
            yield importlib.util.cache_from_source(name), byte_code(name, content)


def byte_code(name: str, source: bytes) -> bytes:
    """The module as Python keeps it in __pycache__, to be believed without a look at the source (PEP 552)."""
    with warnings.catch_warnings(action="ignore", category=SyntaxWarning):  # other people's escapes
        code = compile(source, name, "exec", dont_inherit=True, optimize=0)
    unchecked = (1).to_bytes(4, "little")
    return importlib.util.MAGIC_NUMBER + unchecked + importlib.util.source_hash(source) + marshal.dumps(code)


def pack(packages: Path, source: Path, out: Path, settings: Path | None = None, *, python: str) -> None:
    """Write the zip, beside its place first, so that a half-written one is never taken for it.

    `python` is the function's, such as "3.13".
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    half_written = out.with_suffix(".new")
    with zipfile.ZipFile(half_written, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as bundle:
        for name, content in entries(packages, source, settings, python):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, wherever it is made: only then are the modes below kept
            entry.external_attr = (_LIBRARY if name.endswith(".so") else _FILE) << 16
            bundle.writestr(entry, content)
    half_written.replace(out)


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    for path in root.rglob("*"):
        name = path.relative_to(root)
        if path.is_file() and not _LEFT_OUT.intersection(name.parts) and path.name not in _OWN_WRITINGS:
            posix = PurePosixPath(name)
            if not str(posix).startswith(_UNUSED) and not _is_of_another_service(posix):
                yield str(posix), path


def _is_of_another_service(name: PurePosixPath) -> bool:
    """botocore/data/SERVICE/… and boto3/data/SERVICE/…; the files beside those folders are for all services."""
    owner, *below = name.parts
    is_model = owner in ("boto3", "botocore") and len(below) > 2 and below[0] == "data"
    return is_model and below[1] not in _SERVICES


if __name__ == "__main__":
    version, *paths = sys.argv[1:]
    if version != _THIS_PYTHON:
        sys.stderr.write(
            f"without byte code, as there is no python{version} here: each cold start takes seconds longer\n"
        )
    pack(*(Path(path) for path in paths), python=version)
