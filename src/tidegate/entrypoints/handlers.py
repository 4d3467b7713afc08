"""The handler that a command line names: "module:function"."""

import importlib
import os
import sys
from functools import reduce
from types import ModuleType
from typing import cast

from tidegate.errors import ConfigError, Fault
from tidegate.worker.run_handler import Handler

__all__ = ["load_handler"]

_HOW = "write module:function, such as shop.jobs:send_mail"


def load_handler(target: str) -> Handler:
    """Import what `target` names, from the working directory or what is installed.

    Raises ConfigError when there is no such module, function or attribute, when it can't be called, or `from` whatever
    importing the module raised.
    """
    module_name, _, attributes = target.partition(":")
    if not module_name or not attributes:
        raise _refused(target, "no module:function", _HOW)
    module = _module(target, module_name)
    try:
        handler = reduce(getattr, attributes.split("."), cast("object", module))
    except AttributeError as error:
        public = [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]
        problem = f"module {module_name} has no {attributes}"
        raise _refused(target, problem, f"it has {', '.join(public) or 'nothing that can be called'}") from error
    if not callable(handler):
        raise _refused(target, f"{attributes} is {type(handler).__name__}, which can't be called", _HOW)
    return cast("Handler", handler)


def _module(target: str, name: str) -> ModuleType:
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)  # a console script has its own directory there, not the caller's
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            fix = f"run it where {name.partition('.')[0]} is, or install it (looked in {here} and what is installed)"
            raise _refused(target, f"there is no module {error.name}", fix) from error
        raise _refused(target, f"module {name} imports {error.name}, which is not there", "install that") from error
    except Exception as error:  # the user's own code ran
        problem = f"importing {name} raised {type(error).__name__}: {str(error).partition(os.linesep)[0]}"
        raise _refused(target, problem, f"see where with: python -c 'import {name}'") from error


def _refused(target: str, problem: str, fix: str) -> ConfigError:
    return ConfigError([Fault("handler", target, problem, fix)])
