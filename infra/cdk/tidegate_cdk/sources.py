"""Policies, alarms and dashboard as data: infra/iam and infra/observability, which the Terraform modules read too."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

_PACKAGED = Path(__file__).parent / "data"
_ROOT = _PACKAGED if _PACKAGED.is_dir() else Path(__file__).parents[2]


def statements(*policies: str) -> list[dict[str, Any]]:
    """The statements of infra/iam/POLICY.json, with words in capitals where names belong."""
    read = (json.loads((_ROOT / "iam" / f"{policy}.json").read_text()) for policy in policies)
    return [statement for policy in read for statement in policy["Statement"]]


def watched() -> dict[str, Any]:
    """infra/observability/pool.json, whose form the README beside it tells."""
    found: dict[str, Any] = json.loads((_ROOT / "observability" / "pool.json").read_text())
    return found


def filled(value: Any, words: Mapping[str, str]) -> Any:
    """A copy in which each of the words, wherever it stands in a text, is replaced by what it stands for."""
    if isinstance(value, str):
        return _replaced(value, words.items())
    if isinstance(value, list):
        return [filled(one, words) for one in value]
    if isinstance(value, dict):
        return {key: filled(one, words) for key, one in value.items()}
    return value


def _replaced(text: str, words: Iterable[tuple[str, str]]) -> str:
    for word, meaning in words:
        text = text.replace(word, meaning)
    return text
