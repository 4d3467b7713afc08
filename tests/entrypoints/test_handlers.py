"""`module:function` as a command line names it: what is found, and one clear line for what is not."""

import json
from pathlib import Path

import pytest

from tidegate.entrypoints.handlers import load_handler
from tidegate.errors import ConfigError

SECRET = "postgres://shop:hunter2@db/shop"


@pytest.fixture(autouse=True)
def _shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [entry for entry in __import__("sys").path if entry])
    package = tmp_path / "shop_under_test"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "jobs.py").write_text(
        "LIMIT = 3\ndef send_mail(message): return 'sent'\nclass Mail:\n    @staticmethod\n    def send(message): ...\n"
    )
    (package / "lazy_work.py").write_text(
        "def steps(message):\n    yield 1\nasync def async_steps(message):\n    yield 1\n"
    )
    (package / "broken.py").write_text(f"X = 1\nraise ValueError('{SECRET}')")
    (package / "calls.py").write_text(f"import json\n\nSETTINGS = json.loads('{SECRET}')")
    (package / "user.py").write_text("import os\nfrom shop_under_test import broken")
    (package / "script.py").write_text(f"import sys\nsys.exit('{SECRET}')")
    (package / "typo.py").write_text(f"DSN = '{SECRET}'\nDSN = = '{SECRET}'")
    (package / "names.py").write_text(f"raise ModuleNotFoundError('{SECRET}')")
    (package / "from_it.py").write_text("from shop_under_test.jobs import no_such_name")
    (package / "lazy.py").write_text(
        f"def __getattr__(name):\n    if name == 'job':\n        raise OSError('{SECRET}')"
    )
    (package / "needy.py").write_text("import a_module_that_is_not_there")


@pytest.mark.parametrize("target", ["shop_under_test.jobs:send_mail", "shop_under_test.jobs:Mail.send"])
def test_a_handler_is_found_in_the_working_directory(target: str) -> None:
    assert callable(load_handler(target))


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("shop_under_test.jobs", "no module:function; write module:function, such as"),
        (":send_mail", "no module:function"),
        ("./shop/jobs.py:send_mail", "names a file, where a module is asked for; write shop.jobs:send_mail"),
        ("jobs.py:send_mail", "write jobs:send_mail"),
        (".jobs:send_mail", "write jobs:send_mail"),
        ("shop_under_test.jobs:", "no module:function"),
        ("nowhere.jobs:send_mail", "there is no module nowhere; run it where nowhere is, or install it"),
        ("shop_under_test.nojobs:send_mail", "there is no module shop_under_test.nojobs"),
        ("shop_under_test.jobs:send_male", "has no send_male; it has send_mail, Mail"),
        ("shop_under_test.jobs:LIMIT", "LIMIT is int, which can't be called"),
        ("shop_under_test.lazy_work:steps", "a generator function: calling it does nothing yet, and the message would"),
        ("shop_under_test.lazy_work:async_steps", "; make it a function that does the work before it returns"),
        (
            "shop_under_test.broken:f",
            "importing shop_under_test.broken raised ValueError at shop_under_test.broken:2; ",
        ),
        ("shop_under_test.calls:f", "raised JSONDecodeError at shop_under_test.calls:3; see what it says with: python"),
        ("shop_under_test.user:f", "importing shop_under_test.user raised ValueError at shop_under_test.broken:2; see"),
        ("shop_under_test.script:f", "raised SystemExit at shop_under_test.script:2; "),
        ("shop_under_test.typo:f", "raised SyntaxError at typo.py:2; "),
        ("shop_under_test.names:f", "raised ModuleNotFoundError at shop_under_test.names:1; "),
        ("shop_under_test.from_it:f", "raised ImportError at shop_under_test.from_it:1; "),
        ("shop_under_test.lazy:job", "raised OSError at shop_under_test.lazy:3; "),
        ("shop_under_test.needy:f", "imports a_module_that_is_not_there, which is not there; install that"),
    ],
)
def test_what_cannot_be_called_is_one_line_with_target_and_fix(target: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_handler(target)
    said = str(caught.value)
    assert said.startswith(f"handler = '{target}': ")
    assert says in said
    assert "\n" not in said
    assert SECRET not in said


def test_an_error_of_the_users_own_module_is_the_cause() -> None:
    with pytest.raises(ConfigError) as caught:
        load_handler("shop_under_test.broken:f")
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_working_directory_that_was_removed_hides_nothing_that_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert load_handler("json:loads") is json.loads
    with pytest.raises(ConfigError, match="looked in no directory: the current one is gone and what is installed"):
        load_handler("nowhere:jobs")
