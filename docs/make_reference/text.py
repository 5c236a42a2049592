"""Parse numpydoc docstrings into sections, and format them as Markdown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

#: The sections that list names with their types.
_LISTS = {"Parameters", "Attributes", "Returns", "Raises", "Yields"}

Link = Callable[[str], "str | None"]


@dataclass(frozen=True)
class Entry:
    """One item of a list of parameters, attributes or results: its names, its type, its description."""

    names: tuple[str, ...]
    kind: str
    text: str


@dataclass(frozen=True)
class Docstring:
    """The text before the first section, and the sections: lists of entries, or text."""

    text: str
    sections: dict[str, list[Entry] | str]

    @property
    def summary(self) -> str:
        """The first paragraph, on one line."""
        return " ".join(self.text.split("\n\n")[0].split())

    def entries(self, title: str) -> list[Entry]:
        """Return the entries of a section, or an empty list."""
        found = self.sections.get(title, [])
        return [] if isinstance(found, str) else found


def parse(value: Any) -> Docstring:
    """Read the docstring of an object, not of its base class."""
    lines = inspect.cleandoc(getattr(value, "__doc__", None) or "").splitlines()
    starts = [i for i in range(len(lines) - 1) if lines[i].strip() and re.fullmatch(r"-{3,}", lines[i + 1])]
    text = "\n".join(lines[: starts[0]] if starts else lines).strip()
    sections: dict[str, list[Entry] | str] = {}
    for start, end in pairwise([*starts, len(lines)]):
        title, body = lines[start].strip(), lines[start + 2 : end]
        sections[title] = _read_entries(body, title) if title in _LISTS else "\n".join(body).strip()
    return Docstring(text, sections)


def _read_entries(lines: list[str], title: str) -> list[Entry]:
    entries: list[Entry] = []
    block: list[str] = []
    for line in [*lines, "end"]:
        if line and not line.startswith(" ") and block:
            head, _, kind = block[0].partition(" : ")
            text = inspect.cleandoc("\n" + "\n".join(block[1:])).strip()
            names = tuple(name.strip().lstrip("*") for name in head.split(","))
            unnamed = title in {"Returns", "Raises", "Yields"} and not kind
            entries.append(Entry((), block[0], text) if unnamed else Entry(names, kind, text))
            block = []
        if line or block:
            block.append(line)
    return entries


def slug(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def to_markdown(text: str, link: Link, *, as_list: bool = False) -> str:
    """Turn running text with examples into Markdown; names in single backticks become links where there is a place for them.

    With `as_list` the text is a list of references, each of which begins a line.
    """
    if as_list:
        text = "\n".join("- " + " ".join(item.split()) for item in re.split(r"(?<=[.\d])\n(?=[A-Z])", text))
    lines: list[str] = []
    in_example = False
    for line in text.splitlines():
        if line.startswith(">>>") and not in_example:
            lines += ["", "```python"]
            in_example = True
        elif in_example and not line:
            lines.append("```")
            in_example = False
        lines.append(line if in_example else _inline(line, link))
    return "\n".join([*lines, "```"] if in_example else lines).strip("\n")


def _inline(line: str, link: Link) -> str:
    def code(match: re.Match[str]) -> str:
        double, single, plain = match.groups()
        if plain is not None:
            return re.sub(r"([*<])", r"\\\1", plain)
        # In two backticks stand names as well as code; only those of classes are sure to be names.
        target = link(single) if single else link(double) if double[0].isupper() else None
        return f"[`{single or double}`]({target})" if target else f"`{single or double}`"

    return re.sub(r"``(.+?)``|`(.+?)`|([^`]+)", code, line)


def _kind(text: str, link: Link) -> str:
    """Write a type: names of classes in it become links."""

    def linked(match: re.Match[str]) -> str:
        target = link(match.group())
        return f"[{match.group()}]({target})" if target else match.group()

    return re.sub(r"(?<![\w.`])[A-Z]\w+\b(?![`.])", linked, _inline(text, link))


def markdown_entries(entries: Iterable[Entry], link: Link) -> list[str]:
    """Write entries as a list."""
    lines = []
    for entry in entries:
        head = ", ".join(f"**`{name}`**" for name in entry.names)
        kind = _kind(entry.kind, link)
        lines.append(f"- {head}{' : ' if head and kind else ''}{kind}" + ("\\" if entry.text else ""))
        lines += [f"  {line}".rstrip() for line in to_markdown(entry.text, link).splitlines()]
    return lines
