"""The settings as the function reads them: rendered last of all, when every pool has been added."""

import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import jsii
from aws_cdk import CfnParameter, Fn, IStableStringProducer, Lazy, Stack

_LONGEST = 8192
"""What an advanced parameter holds: https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-advanced-parameters.html"""


@jsii.implements(IStableStringProducer)
class _Producer:
    def __init__(self, produce: Callable[[], str]) -> None:
        self._produce = produce

    def produce(self) -> str:
        return self._produce()


def later(produce: Callable[[], str]) -> str:
    """A text that is asked for at synthesis."""
    return Lazy.string(_Producer(produce))


def rendered(stack: Stack, settings: dict[str, Any]) -> str:
    """As JSON. Raises ValueError when even without the names that AWS fills in it is longer than a parameter holds."""
    if len(json.dumps(stack.resolve(settings))) > 2 * _LONGEST:
        raise ValueError("the settings are longer than the 8 KB that a parameter holds: split the pools")
    return stack.to_json_string(settings)


def revision(stack: Stack, settings: dict[str, Any]) -> str:
    """A text that is another one whenever the settings are, so that a change of them is a change of the function, which
    then reads them anew (CloudFormation does not tell a parameter's version). Values of the template's own parameters
    are part of it.
    """
    resolved = stack.resolve(settings)
    parameters = {one.logical_id for one in stack.node.find_all() if isinstance(one, CfnParameter)}
    names = {stack.resolve(name) for name in parameters}
    digest = hashlib.sha256(json.dumps(resolved, sort_keys=True).encode()).hexdigest()[:12]
    given = sorted({ref for ref in _references(resolved) if ref in names})
    return Fn.join("-", [digest, *(Fn.ref(name) for name in given)]) if given else digest


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("Ref"), str):
            yield value["Ref"]
        for one in value.values():
            yield from _references(one)
    elif isinstance(value, list):
        for one in value:
            yield from _references(one)
