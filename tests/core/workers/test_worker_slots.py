"""How many jobs fit into one worker."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.workers.worker_slots import WorkerFit, slots_that_fit


def test_the_smaller_of_cpu_and_memory_binds_and_is_named() -> None:
    assert slots_that_fit(cpus=4, cpu_per_job=0.5, memory_mib=8192, memory_mib_per_job=500) == WorkerFit(
        6, "CPU (4 cores less 20 %, 0.5 cores per job)"
    )


def test_of_what_is_not_known_nothing_is_said_and_one_job_always_fits() -> None:
    assert slots_that_fit(cpus=2, memory_mib_per_job=100) is None
    assert slots_that_fit(memory_mib=100, memory_mib_per_job=500) == WorkerFit(
        1, "memory (100 MiB less 20 %, 500 MiB per job)"
    )


@given(st.floats(0.1, 1000), st.floats(0.001, 100), st.floats(0, 0.9))
def test_what_fits_leaves_the_headroom_free(cpus: float, share: float, headroom: float) -> None:
    fit = slots_that_fit(cpus=cpus, cpu_per_job=share, headroom=headroom)
    assert fit is not None
    assert fit.slots == 1 or fit.slots * share <= cpus * (1 - headroom) * (1 + 1e-6)
    assert (fit.slots + 1) * share > cpus * (1 - headroom) * (1 - 1e-6)


def test_a_job_with_no_headroom_asked_for_fills_the_worker() -> None:
    fit = slots_that_fit(memory_mib=1000, memory_mib_per_job=100, headroom=0.0)
    assert fit is not None
    assert fit.slots == pytest.approx(10)
