"""The example app passes the checks that a security team would run, and its template is the one that is checked in."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from app import Orders
from aws_cdk import App, Stack, Validations
from aws_cdk import aws_sqs as sqs
from aws_cdk.assertions import Template
from cdk_nag import AwsSolutionsChecks
from template import WRITTEN, template

CFN_LINT = Path(sys.executable).parent / "cfn-lint"
NOT_FOLLOWED = "W3005"
"""CDK itself writes DependsOn beside the reference that implies it, of a function and its role."""


def test_the_template_that_is_checked_in_is_the_apps_own() -> None:
    assert WRITTEN.read_text() == template(), "run: .venv-cdk/bin/python infra/cdk/template.py"


def test_the_template_needs_nothing_of_the_cdk() -> None:
    found = json.loads(WRITTEN.read_text())
    assert set(found) == {"Parameters", "Resources"}
    assert not [name for name in found["Parameters"] if "Bootstrap" in name]
    assert all(one["Description"] for one in found["Parameters"].values())


def test_cfn_lint_finds_nothing_in_the_template() -> None:
    command = [str(CFN_LINT), "--ignore-checks", NOT_FOLLOWED, "--", str(WRITTEN)]
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


def test_cdk_nag_finds_nothing_that_has_no_reason(tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path))
    Orders(app, "Orders")
    assert findings(app, tmp_path) == []


def test_cdk_nag_would_have_found_something(tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path))
    sqs.Queue(Stack(app, "Bad"), "Plain")
    assert "SQS" in json.dumps(findings(app, tmp_path))


def test_no_resource_is_written_with_a_wildcard_but_those_with_a_reason() -> None:
    """GetMetricData has no resource type; tasks' ids are not known beforehand; a log group's streams are its own."""
    statements = [
        statement
        for one in Template.from_stack(Orders(App(), "Orders")).to_json()["Resources"].values()
        if one["Type"] in {"AWS::IAM::Policy", "AWS::IAM::ManagedPolicy"}
        for statement in one["Properties"]["PolicyDocument"]["Statement"]
    ]
    wild = {statement["Sid"] for statement in statements if "*" in json.dumps(statement["Resource"])}
    assert wild == {"ReadMetricsWhichHaveNoResourceType", "BeSparedInScaleIn"}
    assert not [statement for statement in statements if "*" in json.dumps(statement["Action"])]


@pytest.mark.parametrize("default", ["TargetWaitSeconds", "MaxWorkers", "SlotsPerWorker"])
def test_a_parameter_that_changes_the_settings_changes_the_function_too(default: str) -> None:
    resources = json.loads(WRITTEN.read_text())["Resources"].values()
    (function,) = [one for one in resources if one["Type"] == "AWS::Lambda::Function"]
    revision = function["Properties"]["Environment"]["Variables"]["TIDEGATE_CONFIG_REVISION"]
    assert {"Ref": default} in revision["Fn::Join"][1]
