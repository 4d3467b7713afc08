"""Python's garbage collector, kept away from a cold start."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["paused"]


@contextmanager
def paused() -> Iterator[None]:
    """Nothing is collected meanwhile, and what is left at the end never will be.

    Modules and clients stay for as long as the process. Looking through them for garbage again and again while they are
    made takes a seventh of a cold start (tests/bench/test_bench_lambda.py).
    https://docs.python.org/3/library/gc.html#gc.freeze
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()
