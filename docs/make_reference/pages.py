"""Pages of the reference: one per public module, and an index."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from sklearn.base import BaseEstimator

from .names import (
    Item,
    elsewhere,
    function_of,
    items,
    link_to,
    methods_of,
    module_name,
    modules,
    page_of,
    properties_of,
    signature_of,
)
from .text import Docstring, Entry, markdown_entries, parse, slug, to_markdown

#: The order of sections: properties join the attributes of a docstring, whether it lists any or not.
_ORDER = ["Parameters", "Attributes", "Returns", "Raises", "Notes", "References", "Examples"]


def reference_pages() -> dict[str, str]:
    """Return the text of every page by its file's name."""
    return {"index.md": _index_page()} | {page_of(module): _module_page(module) for module in modules()}


def _module_page(module: str) -> str:
    described = items(module)
    lines = [f"# `{module_name(module)}`", "", "[API reference](index.md) · [Guides](../index.md)", ""]
    lines += _text_and_sections(parse(modules()[module]), module, None)
    lines += _name_table([*((item.name, item) for item in described), *elsewhere(module)], module)
    for item in described:
        lines += _class(item) if isinstance(item.value, type) else _function(item)
    return _tidy(lines)


def _index_page() -> str:
    lines = ["# API reference", "", "[Guides](../index.md)", ""]
    lines += ["Generated from the docstrings by `python -m docs.make_reference`. The tests run all examples.", ""]
    for module, code in modules().items():
        lines += [
            f"## [`{module_name(module)}`]({page_of(module)})",
            "",
            to_markdown(parse(code).summary, _nowhere),
            "",
        ]
        lines += _name_table([(item.name, item) for item in items(module)], None)
    return _tidy(lines)


def _tidy(lines: list[str]) -> str:
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def _nowhere(_name: str) -> None:
    """Return no link, for tables whose rows are links."""


def _name_table(named: list[tuple[str, Item]], module: str | None) -> list[str]:
    lines = ["| name | |", "|---|---|"]
    for name, item in named:
        address = f"#{slug(item.name)}" if item.module == module else item.address
        summary = to_markdown(item.doc.summary, _nowhere).replace("|", "\\|")
        lines.append(f"| [`{name}`]({address}) | {summary} |")
    return [*lines, ""]


def _call(heading: str, value: Any, shown: str) -> list[str]:
    return [f"{heading} `{shown}`", "", "```python", signature_of(value, shown), "```", ""]


def _text_and_sections(doc: Docstring, module: str, owner: Item | None, more: list[str] | None = None) -> list[str]:
    """Return a description; `more` goes between the text and the sections."""
    link = partial(link_to, module=module, owner=owner)
    lines = [to_markdown(doc.text, link), "", *(more or [])]
    for title in sorted(doc.sections, key=_ORDER.index):
        content = doc.sections[title]
        lines += [f"**{title}**", ""]
        if isinstance(content, str):
            lines += [to_markdown(content, link, as_list=title == "References"), ""]
        else:
            lines += [*markdown_entries(content, link), ""]
    return lines


def _function(item: Item) -> list[str]:
    return [*_call("###", item.value, item.name), *_text_and_sections(item.doc, item.module, item)]


def _class(item: Item) -> list[str]:
    # Readers need not know how to construct objects that methods and functions return.
    made_by_users = issubclass(item.value, BaseEstimator)
    lines = _call("###", item.value, item.name) if made_by_users else [f"### `{item.name}`", ""]
    if issubclass(item.value, Exception):
        return [*lines, *_text_and_sections(item.doc, item.module, None)]
    lines += _text_and_sections(_with_properties(item), item.module, item, _short_names(item))
    shared: dict[Item, list[str]] = {}
    for name, home in methods_of(item).items():
        if home is item:
            function = function_of(item.value, name)
            lines += _call("####", function, f"{item.name}.{name}")
            lines += _text_and_sections(parse(function), item.module, item)
        else:
            shared.setdefault(home, []).append(name)
    for home, names in shared.items():
        links = [f"[`{name}`]({link_to(name, item.module, item)})" for name in names]
        lines += [f"See `{home.name}` for {', '.join(links)}.", ""]
    return lines


def _with_properties(item: Item) -> Docstring:
    entries = [*item.doc.entries("Attributes")]
    described = {name for entry in entries for name in entry.names}
    properties = properties_of(item.value).items()
    entries += [Entry((name,), "", parse(member).text) for name, member in properties if name not in described]
    sections = item.doc.sections | ({"Attributes": entries} if entries else {})
    return Docstring(item.doc.text, sections)


def _short_names(item: Item) -> list[str]:
    """Return the short names of a learner, in Python and on the command line."""
    by_name = getattr(modules()[item.module], "BY_NAME", {})
    made = {name: repr(make()) for name, make in by_name.items() if type(make()) is item.value}
    if not made:
        return []
    plain = " or ".join(f'`"{name}"`' for name, learner in made.items() if learner == f"{item.name}()")
    others = [f'`"{name}"` is `{learner}`' for name, learner in made.items() if learner != f"{item.name}()"]
    return [f"By name: {'; '.join([plain, *others])}.", ""]
