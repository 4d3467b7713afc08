"""What companies send. Each maker takes a source of chance and gives messages, sorted by when they are sent."""

import math
import random
from collections.abc import Callable, Iterable

from tests.outside.sqs import Message

__all__ = [
    "DAY_S",
    "HOUR_S",
    "Make",
    "burst",
    "constant",
    "exponential",
    "fixed",
    "lognormal",
    "mixed",
    "office",
    "poisson",
    "steps",
    "trains",
]

HOUR_S = 3600.0
DAY_S = 24 * HOUR_S

Make = Callable[[random.Random], list[Message]]
Service = Callable[[random.Random], float]


def fixed(mean_s: float) -> Service:
    """Every job takes as long."""
    return lambda _: mean_s


def exponential(mean_s: float) -> Service:
    """Squared variation 1."""
    return lambda chance: chance.expovariate(1 / mean_s)


def lognormal(mean_s: float, sigma: float = 0.8) -> Service:
    """A long tail: squared variation exp(σ²) − 1."""
    return lambda chance: mean_s * math.exp(sigma * chance.gauss(0, 1) - sigma * sigma / 2)


def poisson(
    rate_per_s: Callable[[float], float],
    until_s: float,
    service: Service,
    *,
    fails: float = 0.0,
    delayed: float = 0.0,
    groups: int = 1,
    job_class: str = "",
) -> Make:
    """At random, at a rate that changes; of the attempts `fails` fail, of the messages `delayed` have a delay."""

    def make(chance: random.Random) -> list[Message]:
        messages = []
        for second in range(int(until_s)):
            for at_s in _within(chance, rate_per_s(second), second):
                due_s = at_s + chance.uniform(10, 900) if delayed and chance.random() < delayed else at_s
                group = chance.randrange(groups)
                messages.append(Message(at_s, due_s, service(chance), _failures(chance, fails), group, job_class))
        return messages

    return make


def _within(chance: random.Random, rate_per_s: float, second: float) -> list[float]:
    times, at_s = [], 0.0
    while rate_per_s > 0:
        at_s += chance.expovariate(rate_per_s)
        if at_s >= 1.0:
            break
        times.append(second + at_s)
    return times


def burst(at_s: Iterable[float], count: int, over_s: float, service: Service, *, age_s: float = 0.0) -> Make:
    """`count` messages within `over_s` at each of the times; `age_s` older than they come, as a redrive has them."""

    def make(chance: random.Random) -> list[Message]:
        return [_at(start_s + over_s * i / count, service(chance), age_s) for start_s in at_s for i in range(count)]

    return make


def _at(comes_s: float, service_s: float, age_s: float) -> Message:
    return Message(comes_s, comes_s, service_s, counts=not age_s, aged_s=age_s)


def mixed(*makes: Make) -> Make:
    """All of them into one queue."""

    def make(chance: random.Random) -> list[Message]:
        messages = [message for one in makes for message in one(chance)]
        return sorted(messages, key=lambda message: message.comes_s)

    return make


def constant(rate_per_s: float) -> Callable[[float], float]:
    """Always the same."""
    return lambda _: rate_per_s


def steps(*parts: tuple[float, float]) -> Callable[[float], float]:
    """(from when, rate): each holds until the next."""
    return lambda at_s: [rate for since_s, rate in parts if since_s <= at_s][-1]


def office(peak_per_s: float, night_per_s: float = 0.0, weekend: float = 1.0) -> Callable[[float], float]:
    """A hump from 7 to 19 o'clock; days 5 and 6 of the week have the share `weekend` of it."""

    def rate_per_s(at_s: float) -> float:
        hour, day = at_s % DAY_S / HOUR_S, int(at_s // DAY_S) % 7
        hump = math.sin(math.pi * (hour - 7) / 12) if 7 <= hour <= 19 else 0.0
        return night_per_s + (peak_per_s - night_per_s) * hump * (weekend if day >= 5 else 1.0)

    return rate_per_s


def trains(until_s: float, every_s: float, service: Service, fails: float) -> Make:
    """A customer's system wakes, sends some dozens or hundreds within a minute, and is quiet again."""

    def make(chance: random.Random) -> list[Message]:
        messages, at_s = [], 0.0
        while (at_s := at_s + chance.expovariate(1 / every_s)) < until_s:
            for _ in range(int(min(800, 20 * chance.paretovariate(1.3)))):
                comes_s = at_s + chance.random() * 60.0
                messages.append(Message(comes_s, comes_s, service(chance), _failures(chance, fails)))
        return sorted(messages, key=lambda message: message.comes_s)

    return make


def _failures(chance: random.Random, share: float) -> int:
    count = 0
    while share and chance.random() < share:
        count += 1
    return count
