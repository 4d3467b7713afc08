"""The plain CloudFormation template of examples/app.py, for users of other languages.

.venv-cdk/bin/python infra/cdk/template.py        renews infra/cloudformation/tidegate.template.json
"""

import json
import sys
from pathlib import Path

from aws_cdk import App
from aws_cdk.assertions import Template

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "examples")]

from app import Orders  # noqa: E402  it lies beside this file and is no package

WRITTEN = HERE.parent / "cloudformation" / "tidegate.template.json"


def template() -> str:
    """As it is checked in."""
    return json.dumps(Template.from_stack(Orders(App(), "Orders")).to_json(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    WRITTEN.write_text(template())
