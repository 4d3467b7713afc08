"""Children end with their parent, and run what they were given as if started by themselves."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from tidegate.sandbox.launch import Launcher, Program, sealed

pytestmark = pytest.mark.integration

PATIENCE_S = 20.0

STUBBORN = """
    import os, signal, sys
    for one in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(one, signal.SIG_IGN)
    os.write(1, b"%d\\n" % os.getpid())
    while True:
        signal.pause()
"""

PARENT = """
    import signal, sys
    from tidegate.sandbox.launch import Launcher, Program
    launcher = Launcher()
    children = [launcher.start(Program(sys.argv[1])) for _ in range(int(sys.argv[2]))]
    signal.pause()
"""

REPORT = """
    import json, os, sys
    print(json.dumps({"argv": sys.argv, "main": __name__, "env": dict(os.environ), "session": os.getsid(0)}))
    sys.exit(7)
"""


def script(directory: Path, name: str, text: str) -> str:
    path = directory / f"{name}.py"
    path.write_text(textwrap.dedent(text))
    return str(path)


def report_of(program: Program, directory: Path, env: dict[str, str] | None = None) -> dict[str, object]:
    log = directory / "child.log"
    with Launcher() as launcher:
        child = launcher.start(program, env, log)
        assert child.wait(PATIENCE_S) == 7, log.read_text()
    report: dict[str, object] = json.loads(log.read_text())
    return report


@pytest.mark.parametrize("number", [1, 5])
def test_when_the_parent_is_killed_its_children_end_though_they_ignore_every_polite_signal(
    tmp_path: Path, number: int
) -> None:
    """The children share the parent's output: it comes to its end only once the last of them has ended."""
    command = [sys.executable, script(tmp_path, "parent", PARENT), script(tmp_path, "child", STUBBORN), str(number)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pids = [int(parent.stdout.readline()) for _ in range(number)]
        parent.kill()
        try:
            output, _ = parent.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            raise
    assert output == b""
    assert parent.returncode == -signal.SIGKILL


@pytest.fixture
def children() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Whatever is put here is gone after the test, also when the tether fails it."""
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for child in started:
        child.kill()
        child.wait(PATIENCE_S)


def test_closing_the_launcher_ends_the_children_that_are_left(
    tmp_path: Path, children: list[subprocess.Popen[bytes]]
) -> None:
    launcher = Launcher()
    child = launcher.start(Program(script(tmp_path, "child", STUBBORN)), log=tmp_path / "log")
    children.append(child)
    launcher.close()
    assert child.wait(PATIENCE_S) == 137
    launcher.close()


def test_an_ended_child_does_not_take_its_sisters_along(
    tmp_path: Path, children: list[subprocess.Popen[bytes]]
) -> None:
    with Launcher() as launcher:
        staying = launcher.start(Program(script(tmp_path, "staying", STUBBORN)), log=tmp_path / "staying.log")
        children.append(staying)
        going = launcher.start(Program(script(tmp_path, "going", "raise SystemExit(3)")))
        assert going.wait(PATIENCE_S) == 3
        assert staying.poll() is None
    assert staying.wait(PATIENCE_S) == 137


def test_a_script_runs_as_main_with_its_own_arguments_and_exit_code(tmp_path: Path) -> None:
    path = script(tmp_path, "report", REPORT)
    report = report_of(Program(path, ("--flag", "a b")), tmp_path)
    assert (report["argv"], report["main"]) == ([path, "--flag", "a b"], "__main__")


@pytest.mark.parametrize(
    ("target", "argv"),
    [
        pytest.param("entry.points:main", ["entry", "x"], id="an entry point, named after its package"),
        pytest.param("entry.points", None, id="a module"),
    ],
)
def test_an_entry_point_and_a_module_run_as_their_commands_would(
    tmp_path: Path, target: str, argv: list[str] | None
) -> None:
    package = tmp_path / "entry"
    package.mkdir()
    (package / "__init__.py").touch()
    body = textwrap.indent(textwrap.dedent(REPORT), "    ")
    (package / "points.py").write_text(f"def main():\n{body}\nif __name__ == '__main__':\n    main()\n")
    report = report_of(Program(target, ("x",)), tmp_path, {"PYTHONPATH": str(tmp_path)})
    assert report["argv"] == (argv or [str(package / "points.py"), "x"])


def environment_of(program: Program, directory: Path, env: dict[str, str] | None = None) -> dict[str, str]:
    given = report_of(program, directory, env)["env"]
    assert isinstance(given, dict)
    return given


def test_accounts_endpoints_and_settings_of_the_shell_never_reach_a_child_but_the_callers_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_the_shell = {
        "AWS_SECRET_ACCESS_KEY": "of a real account",
        "AWS_PROFILE": "production",
        "BOTO_CONFIG": "boto.cfg",
        "ECS_CONTAINER_STOP_TIMEOUT": "2s",
        "ECS_AGENT_URI": "http://169.254.170.2/api/real",
        "TIDEGATE_POOLS__ORDERS__MAX_WORKERS": "7",
        "TIDEGATE_WORKER_STATE_DIR": "elsewhere",
        "TIDEGATE_CONFIG": "production.toml",
    }
    for name, value in {**of_the_shell, "OTHER": "kept"}.items():
        monkeypatch.setenv(name, value)
    own = {"AWS_REGION": "eu-west-1", "TIDEGATE_DEMO_JOURNAL": "here", "LEVEL": "program"}
    program = Program(script(tmp_path, "report", REPORT), env=own)
    env = environment_of(program, tmp_path, {"LEVEL": "worker", "ECS_AGENT_URI": "http://127.0.0.1:1/api/w1"})
    assert env.keys() & of_the_shell.keys() == {"ECS_AGENT_URI"}
    assert (env["ECS_AGENT_URI"], env["AWS_REGION"]) == ("http://127.0.0.1:1/api/w1", "eu-west-1")
    assert (env["TIDEGATE_DEMO_JOURNAL"], env["LEVEL"], env["OTHER"]) == ("here", "worker", "kept")


def test_a_sealed_process_has_the_environment_of_its_children_and_gets_its_own_back() -> None:
    of_the_shell = {"AWS_PROFILE": "production", "TIDEGATE_CONFIG": "production.toml", "OTHER": "kept", "NO_PROXY": "a"}
    environ = dict(of_the_shell)
    with contextlib.suppress(KeyError), sealed(environ):
        within = dict(environ)
        raise KeyError  # what goes wrong within leaves it no other way
    assert within == {
        "OTHER": "kept",
        "NO_PROXY": "a,127.0.0.1",
        "no_proxy": "127.0.0.1",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
    assert environ == of_the_shell


@pytest.mark.parametrize(
    ("of_the_shell", "upper", "lower"),
    [
        ({}, "127.0.0.1", "127.0.0.1"),
        ({"NO_PROXY": "intra.net"}, "intra.net,127.0.0.1", "127.0.0.1"),
        ({"NO_PROXY": "", "no_proxy": "*"}, "127.0.0.1", "*"),
        ({"NO_PROXY": "a.net", "no_proxy": "b.net,.c"}, "a.net,127.0.0.1", "b.net,.c,127.0.0.1"),
    ],
)
def test_no_proxy_stands_between_a_child_and_this_machine_and_the_shells_exceptions_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of_the_shell: dict[str, str], upper: str, lower: str
) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HTTP_PROXY": "http://proxy:3128", **of_the_shell}.items():
        monkeypatch.setenv(name, value)
    env = environment_of(Program(script(tmp_path, "report", REPORT)), tmp_path)
    assert (env["NO_PROXY"], env["no_proxy"], env["HTTP_PROXY"]) == (upper, lower, "http://proxy:3128")


def test_a_child_has_its_own_session_so_that_ctrl_c_reaches_the_parent_only(tmp_path: Path) -> None:
    assert report_of(Program(script(tmp_path, "report", REPORT)), tmp_path)["session"] != os.getsid(0)
