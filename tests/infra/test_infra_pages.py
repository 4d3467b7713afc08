"""What is written about the infrastructure holds: the modules' tables, the variables, the Dockerfile's commands."""

import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest
from typer.main import get_command

from tests.infra.terraform import EXAMPLES, MODULES, ROOT, TERRAFORM
from tidegate.entrypoints.cli import app

DOCKERFILE = ROOT / "infra" / "docker" / "Dockerfile"
TOOLS = ROOT / ".venv-infra" / "bin"


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    """infra/terraform/tables.py, which is no package's."""
    spec = importlib.util.spec_from_file_location("tables", TERRAFORM / "tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def names(folder: Path) -> str:
    return folder.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("folder", MODULES, ids=names)
def test_the_readmes_tables_are_the_modules_own(tables: ModuleType, folder: Path) -> None:
    page = (folder / "README.md").read_text()
    assert tables.renewed(page, folder) == page, "run: python infra/terraform/tables.py"


def blocks(folder: Path, kind: str) -> dict[str, str]:
    found = re.findall(
        rf'^{kind} "(\w+)" \{{\n(.*?)^\}}',
        "\n".join(file.read_text() for file in folder.glob("*.tf")),
        re.MULTILINE | re.DOTALL,
    )
    return dict(found)


@pytest.mark.parametrize("folder", MODULES, ids=names)
def test_every_variable_is_described_typed_and_validated_and_every_output_described(folder: Path) -> None:
    for name, body in blocks(folder, "variable").items():
        for part in ("description =", "type ", "validation {"):
            assert re.search(rf"^  {re.escape(part.split()[0])}\b", body, re.MULTILINE), f"{name} has no {part}"
    for name, body in blocks(folder, "output").items():
        assert "  description = " in body, name


@pytest.mark.parametrize("folder", MODULES, ids=names)
def test_every_validation_rejects_something_in_the_modules_tests(folder: Path) -> None:
    tests = "\n".join(file.read_text() for file in (folder / "tests").glob("*.tftest.hcl"))
    rejected = set(re.findall(r"var\.(\w+)", " ".join(re.findall(r"expect_failures = \[(.*?)\]", tests, re.DOTALL))))
    assert rejected == set(blocks(folder, "variable"))


@pytest.mark.parametrize("folder", MODULES, ids=names)
def test_a_module_has_no_provider_of_its_own_and_says_what_it_needs(folder: Path) -> None:
    text = "\n".join(file.read_text() for file in folder.glob("*.tf"))
    assert not re.search(r'^provider "', text, re.MULTILINE)
    assert 'required_version = ">= 1.5.7"' in text
    assert 'version = ">= 6.28"' in text


@pytest.mark.parametrize("folder", EXAMPLES, ids=names)
def test_an_example_that_makes_a_service_or_group_leaves_its_count_to_tidegate(folder: Path) -> None:
    text = (folder / "main.tf").read_text()
    for kind, count in (("aws_ecs_service", "desired_count"), ("aws_autoscaling_group", "desired_capacity")):
        for body in re.findall(rf'^resource "{kind}" "\w+" \{{\n(.*?)^\}}', text, re.MULTILINE | re.DOTALL):
            assert f"ignore_changes = [{count}]" in body


@pytest.mark.parametrize(
    ("policy", "folder"),
    [("controller", MODULES[0]), ("execution", MODULES[0]), ("worker", MODULES[2]), ("worker-kms", MODULES[2])],
)
def test_terraform_knows_what_each_statement_of_a_policy_is_about(policy: str, folder: Path) -> None:
    """Where terraform can't run, a statement that was added would else be found out by users."""
    text = "\n".join(file.read_text() for file in folder.glob("*.tf"))
    statements = json.loads((ROOT / "infra" / "iam" / f"{policy}.json").read_text())["Statement"]
    assert [one["Sid"] for one in statements if not re.search(rf"^    {one['Sid']} +=", text, re.MULTILINE)] == []


def instructions(keyword: str) -> list[str]:
    return re.findall(rf"^(?:HEALTHCHECK.* )?{keyword} (.+)$", DOCKERFILE.read_text(), re.MULTILINE)


def test_the_image_runs_commands_that_there_are_as_a_user_of_no_rights() -> None:
    commands = set(getattr(get_command(app), "commands"))  # noqa: B009  a group, whose type typer does not tell
    said = [re.findall(r'"([^"]+)"', words) for words in instructions("CMD")]
    assert {words[0] for words in said} == {"tidegate"}
    assert {words[1] for words in said} <= commands
    assert instructions("USER") == ["65532:65532"]


def test_the_image_copies_what_there_is() -> None:
    for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE.read_text(), re.MULTILINE):
        *sources, _ = line.split()
        assert [source for source in sources if not (ROOT / source).exists()] == []


def test_the_builder_is_given_what_the_image_copies() -> None:
    let_through = re.findall(r"^!(.+)$", (DOCKERFILE.parent / "Dockerfile.dockerignore").read_text(), re.MULTILINE)
    copied = [
        source
        for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE.read_text(), re.MULTILINE)
        for source in line.split()[:-1]
    ]
    assert sorted(copied) == sorted(let_through)


def tool(name: str) -> Path:
    """The linter, or the test is skipped with the reason."""
    if not (TOOLS / name).exists():
        pytest.skip(f"{name} is not installed: run `make infra-tools`")
    return TOOLS / name


@pytest.mark.integration
def test_hadolint_finds_nothing_in_the_dockerfile() -> None:
    done = subprocess.run([tool("hadolint"), DOCKERFILE], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.integration
@pytest.mark.timeout(180)
def test_checkov_finds_nothing_that_has_no_reason(tmp_path: Path) -> None:
    """On a copy, which no `terraform init` writes into meanwhile."""
    copy = shutil.copytree(
        ROOT / "infra", tmp_path / "infra", ignore=shutil.ignore_patterns(".terraform*", "cdk", "node_modules")
    )
    command = [str(tool("checkov")), "-d", ".", "--config-file", ".checkov.yaml"]
    done = subprocess.run(command, cwd=copy / "terraform", capture_output=True, text=True, timeout=170, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"Passed checks: [1-9]\d+, Failed checks: 0", done.stdout), done.stdout


def test_every_finding_that_is_not_followed_has_a_reason() -> None:
    lines = (TERRAFORM / ".checkov.yaml").read_text().partition("skip-check:\n")[2].splitlines()
    assert [line for line in lines if not re.fullmatch(r"  - CKV2?_AWS_\d+ # .{30,}", line)] == []
