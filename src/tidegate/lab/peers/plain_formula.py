"""The plain formula: Little's law at a fixed utilization, everything else being tidegate's own.

`slots = (arrivals a second + backlog ÷ drain time) × service time ÷ utilization`: what the core reckons when it is
given a utilization (`core.sizing.erlang.littles_law_slots`), with the same senses and the same guardrails.
"""

from tidegate.lab.policy import Tidegate

__all__ = ["plain_formula"]

UTILIZATION = 0.7


def plain_formula(utilization: float = UTILIZATION) -> Tidegate:
    """Tidegate with a fixed utilization in place of the automatic one, and without the downstream guard."""
    return Tidegate(f"plain formula ρ {utilization:.2f}", utilization=utilization, downstream_guard=False)
