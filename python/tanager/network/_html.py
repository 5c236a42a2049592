"""Networks and conditional probability tables as HTML for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._utils.text import html_label, plural

if TYPE_CHECKING:
    from ._network import Network
    from ._summary import NetworkSummary
    from ._tables import ConditionalTable

#: Maximum number of cells of a conditional probability table, and of tables.
_MAX_CELLS, _MAX_TABLES = 200, 60

_STYLE = (
    ".tanager-network{font-size:13px;margin:.5em 0}.tanager-network table{border-collapse:collapse;margin:.3em 0}"
    ".tanager-network td,.tanager-network th{padding:2px 8px;text-align:left;border-bottom:1px solid rgba(128,128,128,.3)}"
    ".tanager-network .n{text-align:right;font-variant-numeric:tabular-nums}.tanager-network summary{cursor:pointer}"
    ".tanager-network .bar{background:linear-gradient(90deg,rgba(33,90,158,.35) var(--p),transparent var(--p))}"
    ".tanager-network details{margin:.15em 0 .15em .5em}"
)


def network_html(network: Network, summary: NetworkSummary) -> str:
    """Return a network as self-contained HTML: an overview, and tables that open on a click."""
    rows, n_more = summary.feature_rows()
    head = "".join(f"<th>{cell}</th>" for cell in rows[0])
    body = "".join(
        f"<tr><td>{html_label(row[0])}</td>{''.join(f'<td class=n>{cell}</td>' for cell in row[1:4])}"
        f"<td>{html_label(row[4])}</td></tr>"
        for row in rows[1:]
    )
    more = f"<p>… and {plural(n_more, 'less informative feature')}</p>" if n_more else ""
    names = [network.class_name, *network.features]
    tables = "".join(_table_html(network.cpt(name)) for name in names[:_MAX_TABLES])
    if len(names) > _MAX_TABLES:
        tables += f"<p>… and {plural(len(names) - _MAX_TABLES, 'more table')}: network.cpt(name)</p>"
    body = (
        f"<div>{html_label(summary.class_text())}</div><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
        f"</table>{more}<details><summary>conditional probability tables</summary>{tables}</details>"
    )
    return foldable(summary.one_line, body)


def foldable(title: str, body: str) -> str:
    """Return HTML that a click on its title folds away."""
    return (
        f'<div class="tanager-network"><style>{_STYLE}</style><details open><summary><b>{html_label(title)}</b></summary>'
        f"{body}</details></div>"
    )


def table_html(table: ConditionalTable) -> str:
    """Return a conditional probability table as HTML, with bars behind its numbers."""
    return f'<div class="tanager-network"><style>{_STYLE}</style>{_table_html(table, is_open=True)}</div>'


def _table_html(table: ConditionalTable, *, is_open: bool = False) -> str:
    axis = table.names.index(table.variable)
    given = [name for name in table.names if name != table.variable]
    head = f"P({table.variable}{' | ' + ', '.join(given) if given else ''})"
    others = [labels for i, labels in enumerate(table.labels) if i != axis]
    values = np.moveaxis(table.values, axis, -1).reshape(-1, len(table.labels[axis]))
    n_rows = max(1, min(len(values), _MAX_CELLS // values.shape[1]))
    cells = [
        *(f"<th>{html_label(name)}</th>" for name in given),
        *(f"<th class=n>{html_label(v)}</th>" for v in table.labels[axis]),
    ]
    rows = [f"<tr>{''.join(cells)}</tr>"]
    for index, row in zip(np.ndindex(*map(len, others)), values[:n_rows], strict=False):
        parents = "".join(f"<td>{html_label(labels[i])}</td>" for labels, i in zip(others, index, strict=True))
        bars = "".join(f'<td class="n bar" style="--p:{100 * p:.1f}%">{p:.4g}</td>' for p in row)
        rows.append(f"<tr>{parents}{bars}</tr>")
    more = f"<p>… and {plural(len(values) - n_rows, 'more row')}</p>" if len(values) > n_rows else ""
    opened = " open" if is_open else ""
    return f"<details{opened}><summary>{html_label(head)}</summary><table>{''.join(rows)}</table>{more}</details>"
