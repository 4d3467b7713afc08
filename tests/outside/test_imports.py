"""The judge knows of tidegate what anybody outside may know."""

import ast
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.parametrize("path", sorted(HERE.glob("*.py")), ids=lambda path: path.stem)
def test_the_outsiders_judge_imports_only_the_public_names_of_the_core(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    modules += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    ours = {module for module in modules if module.split(".")[0] in ("tidegate", "tests")}
    allowed = ("tidegate.core.", "tests.outside.")
    assert not [module for module in ours if module != "tidegate" and not module.startswith(allowed)]


def test_the_judge_goes_by_what_the_core_exports() -> None:
    for path in HERE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tidegate"):
                module = __import__(node.module or "", fromlist=["__all__"])
                assert {alias.name for alias in node.names} <= set(module.__all__), (path.name, node.module)
