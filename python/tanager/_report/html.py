"""HTML fragments shared by all sections; without inline styles, which the content security policy of the page forbids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .._utils.text import html_label


def name(label: Any) -> str:
    """Return a name or label as HTML, isolated from the writing direction of the text around it."""
    return f"<bdi>{html_label(label)}</bdi>"


def bar(share: float) -> str:
    """Return a bar that fills a share of its cell."""
    width = f"{100 * min(max(share, 0.0), 1.0):.2f}%"
    return f'<svg class="bar" aria-hidden="true"><rect width="{width}" height="100%" rx="2"/></svg>'


def table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int] = (), kind: str = ""
) -> str:
    """Return a table that scrolls if it is too wide; the columns `numbers` are right-aligned."""
    marks = ["n" if i in numbers else "" for i in range(len(headings))]
    head = "".join(_cell("th", mark, text, ' scope="col"') for mark, text in zip(marks, headings, strict=True))
    body = "".join(
        f"<tr>{''.join(_cell('td', mark, text) for mark, text in zip(marks, row, strict=True))}</tr>" for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0"><table class="{kind}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cell(tag: str, mark: str, text: str, more: str = "") -> str:
    kind = f' class="{mark}"' if mark else ""
    return f"<{tag}{kind}{more}>{text}</{tag}>"


def tile(label: str, value: str, note: str = "") -> str:
    """Return a tile with a key figure and its label."""
    more = f'<span class="note">{note}</span>' if note else ""
    return f'<div class="tile"><span class="label">{label}</span><span class="value">{value}</span>{more}</div>'
