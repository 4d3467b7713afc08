"""The plain CloudFormation templates of examples/, for users of other languages.

.venv-cdk/bin/python infra/cdk/template.py        renews those in infra/cloudformation
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from aws_cdk import App
from aws_cdk.assertions import Template

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "examples")]

from app import Orders  # noqa: E402  it lies beside this file and is no package
from app_ecs import OrdersByTask  # noqa: E402

_FOLDER = HERE.parent / "cloudformation"
WRITTEN: Mapping[Path, type[Orders]] = {
    _FOLDER / "tidegate.template.json": Orders,
    _FOLDER / "tidegate-ecs.template.json": OrdersByTask,
}
"""Each template that is checked in, with the example that it is made of."""


def template(example: type[Orders]) -> str:
    """As it is checked in."""
    return json.dumps(Template.from_stack(example(App(), "Orders")).to_json(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for path, example in WRITTEN.items():
        path.write_text(template(example))
