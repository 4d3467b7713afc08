"""The README's example is the app that the other tests synthesise."""

import re
from pathlib import Path

import tidegate_cdk

HERE = Path(__file__).parents[1]


def test_the_readmes_example_is_the_example_app() -> None:
    (shown,) = re.findall(r"```python\n(.*?)```", (HERE / "README.md").read_text(), re.DOTALL)
    assert shown == (HERE / "examples" / "app.py").read_text()


def test_the_readme_tells_of_every_public_name() -> None:
    page = (HERE / "README.md").read_text()
    assert [name for name in tidegate_cdk.__all__ if f"`{name}`" not in page] == []
