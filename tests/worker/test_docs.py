"""The example of docs/worker.md is the test that is run."""

from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_example_of_a_users_test_is_the_one_that_runs() -> None:
    example = (ROOT / "tests" / "worker" / "test_users_tests.py").read_text().strip()
    assert f"```python\n{example}\n```" in (ROOT / "docs" / "worker.md").read_text()
