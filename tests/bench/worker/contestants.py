"""Who is measured: ours, the loops that people write, and the libraries that they use."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["CONTENDERS", "LIMIT", "NODE", "OURS", "Contender"]

RIVALS: Final = Path(__file__).parents[3] / ".venv-rivals"
NODE: Final = Path(__file__).parents[3] / ".node-rivals"
OURS, LIMIT = "tidegate", "aiobotocore loop"


@dataclass(frozen=True, slots=True)
class Contender:
    """A worker: how it is started, what it needs, and whether its messages have a form of their own."""

    name: str
    command: Sequence[str]
    needs: Path | None = None
    own_form: bool = False
    language: str = "Python"


CONTENDERS: Final = (
    Contender(OURS, (sys.executable, "contenders/tidegate_worker.py")),
    Contender(LIMIT, (sys.executable, "contenders/aiobotocore_loop.py")),
    Contender("boto3 loop", (sys.executable, "contenders/boto3_loop.py")),
    Contender("dramatiq", (str(RIVALS / "bin/python"), "contenders/dramatiq_sqs_worker.py"), RIVALS, own_form=True),
    Contender("celery", (str(RIVALS / "bin/python"), "contenders/celery_worker.py"), RIVALS, own_form=True),
    Contender("taskiq", (str(RIVALS / "bin/python"), "contenders/taskiq_worker.py"), RIVALS, own_form=True),
    Contender("sqs-consumer", ("node", "contenders/sqs_consumer.cjs"), NODE, language="Node"),
    Contender("squiss-ts", ("node", "contenders/squiss_ts.cjs"), NODE, language="Node"),
)
