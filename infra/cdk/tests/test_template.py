"""The examples pass the checks that a security team would run, and their templates are those that are checked in."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from app import Orders
from app_ecs import OrdersByTask
from aws_cdk import App, Stack, Validations
from aws_cdk import aws_sqs as sqs
from aws_cdk.assertions import Template
from cdk_nag import AwsSolutionsChecks
from template import WRITTEN, template

CFN_LINT = Path(sys.executable).parent / "cfn-lint"
NOT_FOLLOWED = "W3005"
"""CDK itself writes DependsOn beside the reference that implies it, of a function and its role."""


TEMPLATES = pytest.mark.parametrize("written", WRITTEN, ids=lambda path: path.name)
EXAMPLES = pytest.mark.parametrize("example", [Orders, OrdersByTask])


@TEMPLATES
def test_the_template_that_is_checked_in_is_the_apps_own(written: Path) -> None:
    assert written.read_text() == template(WRITTEN[written]), "run: .venv-cdk/bin/python infra/cdk/template.py"


@TEMPLATES
def test_the_template_needs_nothing_of_the_cdk(written: Path) -> None:
    found = json.loads(written.read_text())
    assert set(found) == {"Parameters", "Resources"}
    assert not [name for name in found["Parameters"] if "Bootstrap" in name]
    assert all(one["Description"] for one in found["Parameters"].values())


@TEMPLATES
def test_cfn_lint_finds_nothing_in_the_template(written: Path) -> None:
    command = [str(CFN_LINT), "--ignore-checks", NOT_FOLLOWED, "--", str(written)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def findings(app: App, folder: Path) -> list[dict[str, Any]]:
    """What cdk-nag's AwsSolutions rules find in the app, less what is acknowledged."""
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    try:
        app.synth()
    except Exception:  # noqa: BLE001  jsii's own: the report tells what for
        assert (folder / "validation-report.json").exists()
    reports = json.loads((folder / "validation-report.json").read_text())["pluginReports"]
    return [violation for report in reports for violation in report["violations"]]


@EXAMPLES
def test_cdk_nag_finds_nothing_that_has_no_reason(example: type[Orders], tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path))
    example(app, "Orders")
    assert findings(app, tmp_path) == []


def test_cdk_nag_would_have_found_something(tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path))
    sqs.Queue(Stack(app, "Bad"), "Plain")
    assert "SQS" in json.dumps(findings(app, tmp_path))


@EXAMPLES
def test_no_resource_is_written_with_a_wildcard_but_those_with_a_reason(example: type[Orders]) -> None:
    """Some actions have no resource type; tasks' ids are not known beforehand; a log group's streams are its own."""
    statements = [
        statement
        for one in Template.from_stack(example(App(), "Orders")).to_json()["Resources"].values()
        if one["Type"] in {"AWS::IAM::Policy", "AWS::IAM::ManagedPolicy"}
        for statement in one["Properties"]["PolicyDocument"]["Statement"]
    ]
    wild = {statement["Sid"] for statement in statements if "*" in json.dumps(statement["Resource"])}
    of_a_task = {"PublishMetricsIntoOneNamespace", "SignInToTheRegistryWhichHasNoResourceType"}
    assert wild - of_a_task == {"ReadMetricsWhichHaveNoResourceType", "BeSparedInScaleIn"}
    assert (example is OrdersByTask) == (of_a_task <= wild)
    assert not [statement for statement in statements if "*" in json.dumps(statement["Action"])]


@pytest.mark.parametrize("default", ["TargetWaitSeconds", "MaxWorkers", "SlotsPerWorker"])
def test_a_parameter_that_changes_the_settings_changes_the_controller_too(default: str) -> None:
    function, task = (json.loads(path.read_text())["Resources"].values() for path in WRITTEN)
    (one,) = [found["Properties"] for found in function if found["Type"] == "AWS::Lambda::Function"]
    revisions = [one["Environment"]["Variables"]["TIDEGATE_CONFIG_REVISION"]]
    revisions += [
        variable["Value"]
        for found in task
        if found["Type"] == "AWS::ECS::TaskDefinition"
        for variable in found["Properties"]["ContainerDefinitions"][0]["Environment"]
        if variable["Name"] == "TIDEGATE_CONFIG_REVISION"
    ]
    assert [{"Ref": default} in revision["Fn::Join"][1] for revision in revisions] == [True, True]
