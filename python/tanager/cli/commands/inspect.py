"""``tanager inspect``: the contents of a model file."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from ..._utils.text import display_label, distinct_labels, text_table
from ..options import add_json

HELP = """
Show the contents of a model file: type and settings, classes, features with
their values and parents, number of parameters, and format version.

examples:
  tanager inspect weather.tng
  tanager inspect weather.tng --cpt sky --cpt play
  tanager inspect weather.tng --json
"""

_MAX_VALUES = 6  # of a feature
_MAX_WIDTH = 24  # of names of features and parents before they wrap


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("model", metavar="MODEL", help="the model file, or - for standard input")
    parser.add_argument(
        "--cpt",
        metavar="NAME",
        action="append",
        default=[],
        help="show only the conditional probability table of a feature or the class; may be repeated",
    )
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print the contents of a model file."""
    from ..._model_file import from_model
    from ..model_facts import facts, file_facts, read_model, table_of

    content = read_model(options.model)
    clf = from_model(content)
    tables = {name: table_of(clf, name) for name in options.cpt}
    if options.json:
        found: dict[str, Any] = {
            "file": file_facts(options.model, content),
            **facts(clf),
        }
        if tables:
            found = {
                "tables": {
                    name: {"variables": list(t.names), "labels": list(t.labels), "values": t.values.tolist()}
                    for name, t in tables.items()
                }
            }
        json.dump(found, sys.stdout, indent=2, ensure_ascii=False)
        print()  # noqa: T201
    elif tables:
        for table in tables.values():
            print(_full(table), end="\n\n" if len(tables) > 1 else "\n")  # noqa: T201
    else:
        _show({"file": file_facts(options.model, content), **facts(clf)})


def _full(table: Any) -> str:
    """Return all rows of a conditional probability table as text."""
    import numpy as np

    axis = table.names.index(table.variable)
    given = [name for name in table.names if name != table.variable]
    others = [labels for i, labels in enumerate(table.labels) if i != axis]
    values = np.moveaxis(table.values, axis, -1).reshape(-1, len(table.labels[axis]))
    texts = [distinct_labels(labels) for labels in others]
    lines = [[*map(display_label, given), *distinct_labels(table.labels[axis])]]
    for index, row in zip(np.ndindex(*map(len, others)), values, strict=True):
        lines.append([*(text[i] for text, i in zip(texts, index, strict=True)), *(f"{p:.4g}" for p in row)])
    head = f"P({display_label(table.variable)}{' | ' + ', '.join(map(display_label, given)) if given else ''})"
    return f"{head}\n{text_table(lines, left=1)}"


def _show(found: dict[str, Any]) -> None:
    from rich.cells import cell_len
    from rich.text import Text

    from ..terminal import make_console, plain_table

    console = make_console()
    about = plain_table(show_header=False)
    about.add_column(style="bold")
    about.add_column(overflow="fold")
    for name, value in _lines(found):
        about.add_row(name, Text(value))
    console.print(about)
    console.print()
    table = plain_table()
    rows = [_cells_of(feature) for feature in found["features"]]
    widths = [max(cell_len(row[i]) for row in [("feature", "values", "", "parents"), *rows]) for i in range(4)]
    has_parents = any("parents" in feature for feature in found["features"])
    # Names and parents wrap beyond a maximum width; values get the remaining space.
    names, parents = min(widths[0], _MAX_WIDTH), min(widths[3], _MAX_WIDTH) if has_parents else 0
    room = max(_MAX_WIDTH // 2, console.width - names - widths[1] - parents - 10)
    table.add_column("feature", overflow="fold", min_width=names)
    table.add_column("values", justify="right", no_wrap=True)
    table.add_column("labels", overflow="ellipsis", no_wrap=True, max_width=room)
    if has_parents:
        table.add_column("parents", overflow="fold", min_width=parents)
    for row in rows:
        table.add_row(*map(Text, row[: 4 if has_parents else 3]))
    console.print(table)


def _cells_of(feature: dict[str, Any]) -> tuple[str, str, str, str]:
    labels = ", ".join(distinct_labels(feature["values"])[:_MAX_VALUES]) + (
        ", ..." if len(feature["values"]) > _MAX_VALUES else ""
    )
    parents = feature.get("parents", ())
    return (
        display_label(feature["name"]),
        f"{feature['cardinality']:,}",
        labels,
        "not used" if parents is None else ", ".join(map(display_label, parents)),
    )


def _lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    file = found["file"]
    size = "" if file["bytes"] is None else f", {file['bytes']:,} bytes"
    counts = "with counts (supports partial_fit)" if file["with_counts"] else "without counts"
    classes = ", ".join(f"{label} ({p:.3g})" if p is not None else label for label, p in _class_shares(found))
    lines = [
        ("model", found["summary"]),
        ("file", f"{display_label(file['name'])}: format {file['format']}{size}, {counts}"),
        *((name, str(value)) for name, value in found["settings"].items()),
        ("class", f"{display_label(found['class'])}: {classes}"),
    ]
    if found.get("arcs"):
        arcs = [f"{display_label(a)} → {display_label(b)}" for a, b in found["arcs"] if found["class"] not in (a, b)]
        lines.append(
            ("arcs", ", ".join(arcs[:40]) + (f" and {len(arcs) - 40} more" if len(arcs) > 40 else "") or "none")
        )
    if "trees" in found:
        trees = found["trees"]
        edges = ", ".join(
            f"{display_label(a)} – {display_label(b)} ({p:.2f})" for a, b, p in trees["most_probable_tree"]
        )
        lines += [
            ("best tree", f"probability {trees['probability']:.3g}, entropy over trees {trees['entropy']:.3g}"),
            ("its edges", f"{edges} (probability of every edge)"),
        ]
    return lines


def _class_shares(found: dict[str, Any]) -> list[tuple[str, float | None]]:
    shares = found["class_probabilities"] or [None] * len(found["classes"])
    return list(zip(distinct_labels(found["classes"]), shares, strict=True))
