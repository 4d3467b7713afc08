"""What a child process of the sandbox runs first: it ends as soon as its parent is gone, however the parent died.

`python -m tidegate.sandbox.tether FD TARGET ARGS…` blocks a daemon thread on reading FD, a pipe whose write end
only the parent holds. The kernel closes that end when the parent dies, kill -9 included, and the read returns; this
works the same on Linux and macOS (a death signal exists on Linux only). Then TARGET runs in the same process,
unchanged: `package.module:function`, `package.module` or `path/to/script.py`.

Nothing heavy is imported here: every worker pays for it at its start.
"""

import importlib
import os
import sys
import threading

__all__ = ["end_with_parent", "hand_over", "main"]


def end_with_parent(fd: int) -> None:
    """End this process, at once and without clean-up, when the last write end of the pipe `fd` is closed."""
    # A grandchild must not keep reading: it has its own parent.
    os.set_inheritable(fd, False)
    threading.Thread(target=_wait_for_end, args=(fd,), name="tether", daemon=True).start()


def _wait_for_end(fd: int) -> None:
    while os.read(fd, 1):
        pass
    # Nobody is left to finish for, and a drain would outlive the endpoints that it needs.
    os._exit(137)


def hand_over(target: str, args: list[str]) -> None:
    """Run `target` as if it had been started by itself with `args`."""
    module, _, function = target.partition(":")
    sys.argv = [module.partition(".")[0] if function else target, *args]
    if function:
        sys.exit(getattr(importlib.import_module(module), function)())
    runpy = importlib.import_module("runpy")
    if target.endswith(".py"):
        runpy.run_path(target, run_name="__main__")
    else:
        runpy.run_module(target, run_name="__main__", alter_sys=True)


def main() -> None:
    fd, target, *args = sys.argv[1:]
    end_with_parent(int(fd))
    hand_over(target, args)


if __name__ == "__main__":
    main()
