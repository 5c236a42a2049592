"""What tests of the command line share."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tanager.cli import main

WEATHER = """\
sky,wind,day,code,play
sun,3.5,1,007,yes
rain,20.25,2,008,no
rain,14,2,007,no
?,2.5,1,009,yes
sun,4,3,007,yes
"hail, heavy",18.5,3,009,no
"""


@pytest.fixture
def weather(tmp_path: Path) -> Path:
    """Data with text, numbers, integers, codes with leading zeros, quotes and a missing value."""
    path = tmp_path / "weather.csv"
    path.write_text(WEATHER, encoding="utf-8")
    return path


class Standard:
    """Runs commands with bytes as standard input, and keeps what they write."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: object, stdin: bytes = b"") -> SimpleNamespace:
        self._capsys.readouterr()
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        with self._monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin))))
            patch.setattr(sys, "stdout", out)
            code = main([str(argument) for argument in arguments])
        written = out.buffer.getvalue()
        return SimpleNamespace(code=code, out=written, err=self._capsys.readouterr().err)

    def well(self, *arguments: object, stdin: bytes = b"") -> str:
        """Run a command that must go well without a word on standard error, and return what it writes."""
        done = self(*arguments, stdin=stdin)
        assert (done.code, done.err) == (0, "")
        return done.out.decode()


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Standard:
    """Run commands in this process."""
    return Standard(monkeypatch, capsys)
