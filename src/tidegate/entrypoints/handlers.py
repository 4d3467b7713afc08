"""The handler that a command line names: "module:function"."""

import importlib
import os
import sys
import traceback
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import cast

from tidegate.errors import ConfigError, Fault
from tidegate.worker.handlers.kinds import Handler, check_handler

__all__ = ["load_handler"]

_HOW = "write module:function, such as shop.jobs:send_mail"


def load_handler(target: str) -> Handler:
    """Import what `target` names, from the working directory or what is installed.

    Raises ConfigError when there is no such module, function or attribute, when it can't be called or only makes a
    generator, or `from` whatever the module itself raised. Of that it says kind and place but never the text, which may
    quote a password (a database that refuses a connection quotes its address).
    """
    module_name, _, attributes = target.partition(":")
    if not module_name or not attributes:
        raise _refused(target, "no module:function", _HOW)
    if module_name.endswith(".py") or "/" in module_name or module_name.startswith("."):
        dotted = module_name.removesuffix(".py").strip("./").replace("/", ".")
        raise _refused(target, "names a file, where a module is asked for", f"write {dotted or 'module'}:{attributes}")
    handler = _attribute(target, _module(target, module_name), attributes)
    if not callable(handler):
        raise _refused(target, f"{attributes} is {type(handler).__name__}, which can't be called", _HOW)
    check_handler(handler, target)
    return cast("Handler", handler)


def _attribute(target: str, module: ModuleType, path: str) -> object:
    try:
        return reduce(getattr, path.split("."), cast("object", module))
    except AttributeError as error:
        public = [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]
        problem = f"module {module.__name__} has no {path}"
        raise _refused(target, problem, f"it has {', '.join(public) or 'nothing that can be called'}") from error
    except (Exception, SystemExit) as error:  # a module can make attributes when they are asked for
        raise _failed(target, module.__name__, error) from error


def _module(target: str, name: str) -> ModuleType:
    here = _working_directory()
    if here is not None and here not in sys.path:
        sys.path.insert(0, here)  # a console script has its own directory there, not the caller's
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # the user's own code ran
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is None:
            raise _failed(target, name, error) from error
        if name == missing or name.startswith(f"{missing}."):
            looked = f"{here or 'no directory: the current one is gone'} and what is installed"
            fix = f"run it where {name.partition('.')[0]} is, or install it (looked in {looked})"
            raise _refused(target, f"there is no module {missing}", fix) from error
        raise _refused(target, f"module {name} imports {missing}, which is not there", "install that") from error


def _working_directory() -> str | None:
    try:
        return os.getcwd()
    except FileNotFoundError:  # somebody has removed it
        return None


def _failed(target: str, module: str, error: BaseException) -> ConfigError:
    problem = f"importing {module} raised {type(error).__name__} at {_place(error, module.partition('.')[0])}"
    return _refused(target, problem, f"see what it says with: python -c 'import {module}'")


def _place(error: BaseException, package: str) -> str:
    """module:line where it was raised, or where the user's own package called what raised it."""
    if isinstance(error, SyntaxError) and error.filename:  # what can't be compiled is nowhere in the traceback
        return f"{Path(error.filename).name}:{error.lineno}"
    places = [(frame.f_globals.get("__name__", "?"), line) for frame, line in traceback.walk_tb(error.__traceback__)]
    own = [place for place in places if place[0].partition(".")[0] == package]
    module, line = (own or places)[-1]
    return f"{module}:{line}"


def _refused(target: str, problem: str, fix: str) -> ConfigError:
    return ConfigError([Fault("handler", target, problem, fix)])
