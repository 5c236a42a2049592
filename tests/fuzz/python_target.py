"""What fuzz targets in Python share: decisions from bytes, the way back from a text, and running with atheris.

A target is a file fuzz_NAME.py with a function `check(data: bytes)`, which raises if something is wrong. `run.py` runs it
with atheris, libFuzzer for Python, where that is installed, and otherwise with the plain mutator below, which
test_text_fuzz.py uses as well.
"""

from __future__ import annotations

import importlib
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import numpy as np

from tanager.interop import read_bif, read_xmlbif
from tanager.interop._variables import Variable, make_network, variables_of

SEEDS = Path(__file__).resolve().parent / "seeds"
#: Networks of more cells than this are not written: it would take most of the time.
MOST_CELLS = 5000

T = TypeVar("T")


class Decisions:
    """Turns bytes into decisions; beyond the last byte everything is zero."""

    def __init__(self, data: bytes):
        self._data = data
        self._at = 0

    def number(self, limit: int) -> int:
        """Return a number below the limit, of one byte."""
        self._at += 1
        return self._data[self._at - 1] % limit if self._at <= len(self._data) else 0

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in an order that one byte decides."""
        found = list(items)
        random.Random(self.number(256)).shuffle(found)
        return found

    def rest(self) -> bytes:
        """Return what is left."""
        return self._data[self._at :]


def check_written(variables: Sequence[Variable], class_name: str | None, form: str) -> None:
    """Check that what was read makes a network, and comes back the same when it is written and read."""
    if sum(v.table.size for v in variables) > MOST_CELLS:
        return
    try:
        network = make_network(variables, class_name or variables[0].name)
    except ValueError:
        return  # such as a class without values, or what only the core rejects
    texts = [network.to_bif(), network.to_xmlbif()]
    for text, read in zip(texts, (read_bif, read_xmlbif), strict=True):
        again = read(text)
        assert again.class_name == network.class_name, form
        for found, expected in zip(variables_of(again), variables_of(network), strict=True):
            assert (found.name, found.parents) == (expected.name, expected.parents), form
            assert list(map(_typed, found.labels)) == list(map(_typed, expected.labels)), form
            assert np.array_equal(found.table, expected.table), form
            assert (found.cuts is None) == (expected.cuts is None), form
            assert found.cuts is None or np.array_equal(found.cuts, expected.cuts), form
        assert (again.to_bif(), again.to_xmlbif()) == tuple(texts), form


def _typed(label: object) -> tuple[str, object]:
    return type(label).__name__, label


def seeds_of(target: ModuleType) -> list[bytes]:
    """Return the seeds in the tree."""
    name = Path(target.__file__ or "").stem.removeprefix("fuzz_")
    return [path.read_bytes() for path in sorted((SEEDS / name).iterdir())]


def inputs(target: ModuleType) -> Iterator[bytes]:
    """Yield the seeds of a target, and then without end changed copies of them: the same ones every time."""
    seeds = seeds_of(target)
    yield from seeds
    pieces = [word.encode("utf-8", "surrogatepass") for word in target.WORDS]
    chance = random.Random(1)
    while True:
        if chance.random() < 0.2:  # for what is made up of decisions
            yield b"\1" + chance.randbytes(chance.randrange(200))
        else:
            yield _changed(chance.choice(seeds), seeds, pieces, chance)[: target.MAX_LENGTH]


def _changed(data: bytes, seeds: Sequence[bytes], pieces: Sequence[bytes], chance: random.Random) -> bytes:
    for _ in range(chance.choice((1, 1, 2, 4, 8))):
        at = chance.randrange(1, len(data) + 1) if data else 0
        end = min(len(data), at + chance.choice((1, 2, 10, 100)))
        other = chance.choice(seeds)
        start = chance.randrange(len(other) + 1)
        between = chance.choice(
            (
                b"",
                chance.choice(pieces),
                chance.randbytes(1),
                data[at:end] * 2,
                other[start : start + chance.choice((5, 50, 500))],
            )
        )
        data = data[:at] + between + data[at if chance.random() < 0.5 else end :]
    return data


def run(target: ModuleType, modules: Sequence[str]) -> None:
    """Run a target as libFuzzer would be run: with atheris, or for ``-max_total_time`` seconds without.

    Parameters
    ----------
    target : module
        With its name, `check`, `WORDS` and `MAX_LENGTH`.
    modules : sequence of str
        The modules of tanager whose branches are counted.
    """
    try:
        import atheris
    except ImportError:
        _run_plainly(target)
        return
    seeds = seeds_of(target)
    pieces = [word.encode("utf-8", "surrogatepass") for word in target.WORDS]

    def mutate(data: bytes, longest: int, seed: int) -> bytes:
        chance = random.Random(seed)
        if chance.random() < 0.5:
            return atheris.Mutate(data, longest)
        return _changed(data, seeds, pieces, chance)[:longest]

    for module in (importlib.import_module(f"tanager.{name}") for name in modules):
        for value in vars(module).values():
            if getattr(value, "__module__", None) == module.__name__ and callable(value):
                _instrument(atheris, value)
    atheris.Setup(sys.argv, target.check, custom_mutator=mutate)
    atheris.Fuzz()


def _instrument(atheris: ModuleType, value: object) -> None:
    """Have atheris count the branches of a function, or of the methods of a class."""
    functions = vars(value).values() if isinstance(value, type) else [value]
    for function in functions:
        if hasattr(function, "__code__"):
            atheris.instrument_func(function)


def _run_plainly(target: ModuleType) -> None:
    options = dict(text[1:].split("=", 1) for text in sys.argv[1:] if text.startswith("-"))
    end = time.monotonic() + float(options.get("max_total_time", 60))
    for count, data in enumerate(inputs(target)):
        try:
            target.check(data)
        except BaseException:
            Path(f"{options.get('artifact_prefix', '')}crash").write_bytes(data)
            raise
        if time.monotonic() > end:
            print(f"stat::number_of_executed_units: {count + 1}", file=sys.stderr)
            return
