"""Explanations as text, DataFrame and HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.optional import import_optional
from .._utils.text import display_label, html_label, plural

if TYPE_CHECKING:
    import pandas as pd

    from . import Explanation

#: Maximum number of rows, and of changes per row, in text and HTML.
_MAX_ROWS, _MAX_CHANGES = 10, 3


def signed(number: float, digits: int = 3) -> str:
    """Return a number with its sign; infinity as a symbol, and NaN as "undefined"."""
    if np.isnan(number):
        return "undefined"
    if np.isinf(number):
        return "+∞" if number > 0 else "-∞"
    text = f"{number:+.{digits}f}"
    return text[1:] if float(text) == 0 else text


def probability_text(p: float) -> str:
    """Return a probability with three digits; "more than 0.999" instead of a rounded 1."""
    text = f"{p:.3g}"
    return "more than 0.999" if text == "1" and p < 1 else text


def sorted_contributions(explanation: Explanation, row: int, of: int) -> list[tuple[str, str, float, bool]]:
    """Return name, value, contribution, and whether it is missing, of every feature in the model; largest first."""
    values, in_model = explanation.values_of(row), set(explanation.order)
    found = [
        (name, values[f], float(explanation.contributions[row, f, of]), bool(explanation.missing[row, f]))
        for f, name in enumerate(explanation.feature_names)
        if name in in_model
    ]
    # Rounded, so that rounding errors do not decide the order.
    found.sort(key=lambda item: (item[3], -abs(round(item[2], 9)) if np.isfinite(item[2]) else -np.inf))
    return [(display_label(name), "missing" if gone else display_label(v), x, gone) for name, v, x, gone in found]


def to_text(explanation: Explanation, of: Any = None) -> str:
    """Return the text of the first rows."""
    first = explanation[:_MAX_ROWS]  # no search for changes in rows that are not shown
    codes = first.class_codes(of)
    parts = [_row_text(first, row, int(codes[row])) for row in range(len(first))]
    if len(explanation) > _MAX_ROWS:
        parts.append(f"... and {plural(len(explanation) - _MAX_ROWS, 'more row')}")
    return "\n\n".join(parts)


def _row_text(explanation: Explanation, row: int, of: int) -> str:
    name = display_label(explanation.class_name)
    lines = [[name, "prior", signed(float(explanation.base[row, of]))]]
    lines += [[f, value, "" if gone else signed(x)] for f, value, x, gone in sorted_contributions(explanation, row, of)]
    lines.append(["sum", "", signed(float(explanation.log_odds[row, of]))])
    first, second, third = (max(map(len, column)) for column in zip(*lines, strict=True))
    table = [f"  {a:{first}}  {b:{second}}  {c:>{third}}".rstrip() for a, b, c in lines]
    return "\n".join([*heading(explanation, row, of), *table, *_changes_text(explanation, row)])


def heading(explanation: Explanation, row: int, of: int) -> list[str]:
    """Return two lines: the prediction of a row, and the log-odds that are explained."""
    predicted = explanation.class_codes()[row]
    name, label = display_label(explanation.class_name), display_label(explanation.prediction[row])
    probability = explanation.probabilities[row, predicted]
    own, rival = display_label(explanation.classes[of]), display_label(explanation.rivals[row, of])
    return [
        f"row {explanation.rows[row]}: {name} is {label} with probability {probability_text(probability)}",
        f"log-odds of {own} against {rival}:",
    ]


def change_lines(explanation: Explanation, row: int) -> list[tuple[str, list[str]]]:
    """Return headings and lines about changes of the prediction."""
    strongest = [change for change in explanation.changes[row] if change.fall > 0][:_MAX_CHANGES]
    lines = []
    for change in strongest:
        now = "missing" if change.value is None else display_label(change.value)
        flips = change.prediction != explanation.prediction[row]
        then = f", then {display_label(change.prediction)}" if flips else ""
        lines.append(
            f"{display_label(change.feature)}: {now} → {display_label(change.to)} (log-odds {signed(change.log_odds)}{then})"
        )
    impossible = np.isnan(explanation.log_odds[row, explanation.class_codes()[row]])
    found: list[tuple[str, list[str]]] = [("the model gives this row probability zero", [])] if impossible else []
    found += [("strongest counterfactual values:", lines)] if lines else []
    flip = explanation.flips[row]
    if flip is not None:
        changes = " and ".join(f"{display_label(f)} → {display_label(v)}" for f, v in flip.changes.items())
        then = f"then {display_label(flip.prediction)} with probability {probability_text(flip.probability)}"
        found.append(("smallest change that flips the prediction:", [f"{changes}: {then}"]))
    elif explanation.no_flip[row]:
        which = "features" if explanation._setting.all_may_change else "changeable features"
        found.append((f"no change of one or two {which} flips the prediction", []))
    else:
        found.append(("no change that flips the prediction was found; not all pairs of features were tried", []))
    return found


def _changes_text(explanation: Explanation, row: int) -> list[str]:
    return [text for head, lines in change_lines(explanation, row) for text in [head, *(f"  {line}" for line in lines)]]


def to_frame(explanation: Explanation) -> pd.DataFrame:
    """Return a DataFrame with a row per row, class and feature."""
    pd = import_optional("pandas", "to_frame")
    n_rows, n_features, n_classes = explanation.contributions.shape
    shape = n_rows, n_classes, n_features + 1
    contributions = np.concatenate([explanation.base[:, None], explanation.contributions], axis=1).swapaxes(1, 2)
    missing = np.zeros((n_rows, 1, n_features + 1), dtype=bool)
    missing[:, 0, 1:] = explanation.missing
    values = np.empty(shape, dtype=object)
    for row in range(n_rows):
        values[row, :, 0] = None
        for f, value in enumerate(explanation.values_of(row)):
            values[row, :, f + 1].fill(value)

    def spread(array: Any, axes: tuple[int, ...]) -> Any:
        return np.broadcast_to(np.asarray(array).reshape(axes), shape).reshape(-1)

    names = np.array([explanation.class_name, *explanation.feature_names], dtype=object)
    return pd.DataFrame(
        {
            "row": spread(explanation.rows, (n_rows, 1, 1)),
            "class": spread(explanation.classes, (1, n_classes, 1)),
            "against": spread(explanation.rivals, (n_rows, n_classes, 1)),
            "feature": spread(names, (1, 1, n_features + 1)),
            "value": values.reshape(-1),
            "missing": spread(missing, missing.shape),
            "contribution": contributions.reshape(-1),
        }
    )


_STYLE = (
    ".tanager-explanation{font-size:13px;margin:0 0 1em}.tanager-explanation table{border-collapse:collapse}"
    ".tanager-explanation td{padding:2px 8px;text-align:left}.tanager-explanation td.n{text-align:right;"
    "font-variant-numeric:tabular-nums}.tanager-explanation td.b{width:160px;padding:0}"
    ".tanager-explanation i{display:block;height:.8em}.tanager-explanation .p{background:#215a9e}"
    ".tanager-explanation .m{background:#c4623b}.tanager-explanation .gone{opacity:.6;font-style:italic}"
)


def to_html(explanation: Explanation) -> str:
    """Return HTML of the first rows, with contributions as bars."""
    first = explanation[:_MAX_ROWS]
    codes = first.class_codes()
    parts = [_row_html(first, row, int(codes[row])) for row in range(len(first))]
    if len(explanation) > _MAX_ROWS:
        parts.append(f"<p>… and {plural(len(explanation) - _MAX_ROWS, 'more row')}</p>")
    return f'<div class="tanager-explanation"><style>{_STYLE}</style>{"".join(parts)}</div>'


def _row_html(explanation: Explanation, row: int, of: int) -> str:
    lines = [(explanation.class_name, "prior", float(explanation.base[row, of]), False)]
    lines += sorted_contributions(explanation, row, of)
    finite = [abs(x) for *_, x, _ in lines if np.isfinite(x)]
    largest = max(finite, default=0.0) or 1.0
    body = [_html_line(name, value, x, gone, largest) for name, value, x, gone in lines]
    total = signed(float(explanation.log_odds[row, of]))
    body.append(f'<tr><td><b>sum</b></td><td></td><td class="n"><b>{total}</b></td><td></td></tr>')
    first, second = (html_label(line) for line in heading(explanation, row, of))
    notes = "".join(
        f"<div>{html_label(head)} {html_label('; '.join(lines_of)) if lines_of else ''}</div>"
        for head, lines_of in change_lines(explanation, row)
    )
    return f"<div><b>{first}</b><br>{second}<table>{''.join(body)}</table>{notes}</div>"


def _html_line(name: str, value: str, x: float, gone: bool, largest: float) -> str:
    if gone:
        return f'<tr class="gone"><td>{html_label(name)}</td><td>missing</td><td></td><td></td></tr>'
    share = 50 * min(abs(x) / largest, 1.0) if x == x else 0.0  # noqa: PLR0124  # NaN
    left = 50 if x > 0 else 50 - share
    bar = f'<i class="{"p" if x > 0 else "m"}" style="margin-left:{left:.2f}%;width:{share:.2f}%"></i>'
    cells = f"<td>{html_label(name)}</td><td>{html_label(value)}</td>"
    return f'<tr>{cells}<td class="n">{signed(x)}</td><td class="b">{bar}</td></tr>'
