"""The tables of variables and outputs in the modules' READMEs, made from the modules themselves.

    python infra/terraform/tables.py        renews infra/terraform/README.md and those of the modules

It reads what `terraform fmt` writes: blocks begin at the first column, and a heredoc or a brace in a text is not used.
"""

import re
from collections.abc import Iterator
from pathlib import Path

BEGIN = "<!-- made by tables.py: edit the .tf files instead -->"
END = "<!-- end of the made part -->"
HERE = Path(__file__).parent
FOLDERS = (HERE, HERE / "modules" / "pool", HERE / "modules" / "alarms")

_BLOCK = re.compile(r'^(variable|output) "(\w+)" \{\n(.*?)^\}', re.MULTILINE | re.DOTALL)


def tables(folder: Path) -> str:
    """Markdown: every variable with its type and default, and every output."""
    blocks = [
        (kind, name, body)
        for file in sorted(folder.glob("*.tf"))
        for kind, name, body in _BLOCK.findall(file.read_text())
    ]
    variables = [_variable(name, body) for kind, name, body in blocks if kind == "variable"]
    outputs = [f"| `{name}` | {_text(body)} |" for kind, name, body in blocks if kind == "output"]
    return "\n".join(
        [
            "| variable | type | default | meaning |",
            "| --- | --- | --- | --- |",
            *variables,
            "",
            "| output | meaning |",
            "| --- | --- |",
            *outputs,
        ]
    )


def renewed(page: str, folder: Path) -> str:
    """The page with the part between the marks made anew."""
    before, rest = page.split(BEGIN, 1)
    return f"{before}{BEGIN}\n\n{tables(folder)}\n\n{END}{rest.split(END, 1)[1]}"


def _variable(name: str, body: str) -> str:
    kind = _cell(" ".join(_argument(body, "type")))
    default = _cell(" ".join(_argument(body, "default"))) if _argument(body, "default") else "must be set"
    return f"| `{name}` | {kind} | {default} | {_text(body)} |"


def _cell(code: str) -> str:
    return f"`{code}`"


def _text(body: str) -> str:
    return " ".join(_argument(body, "description")).strip('"').replace('\\"', '"').replace("|", r"\|")


def _argument(body: str, name: str) -> list[str]:
    """The lines of an argument's value: to the end of the line, or to the bracket that closes what is opened there."""
    return [*_value(body.splitlines(), name)]


def _value(lines: list[str], name: str) -> Iterator[str]:
    depth = 0
    for line in lines:
        started = re.match(rf"  {name}\s*= (.*)", line)
        if started:
            line = started[1]
        elif depth == 0:
            continue
        yield re.sub(r"\s+", " ", line.strip())
        depth += sum(line.count(bracket) for bracket in "({[") - sum(line.count(bracket) for bracket in ")}]")
        if depth == 0:
            return


if __name__ == "__main__":
    for folder in FOLDERS:
        page = folder / "README.md"
        page.write_text(renewed(page.read_text(), folder))
