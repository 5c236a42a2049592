"""Networks as DOT, the graph language of Graphviz."""

from __future__ import annotations

import math

from ..network import Network
from ..network._strengths import arc_strength, quick_joint

_COLOR = "#215a9e"
#: Width of the weakest and the strongest arc, in points.
_THIN, _THICK = 0.5, 6.0


def dot_text(network: Network, strengths: bool) -> str:
    """Return the graph of a network, with arc widths by strength if `strengths`."""
    names = [network.class_name, *network.features]
    ids = dict(zip(names, _distinct([quoted(name) for name in names]), strict=True))
    lines = [
        'node [shape=box, style="rounded,filled", fillcolor=white, fontname="sans-serif"];',
        f'edge [color="{_COLOR}"];',
        f'{ids[network.class_name]} [fillcolor="{_COLOR}", fontcolor=white];',
        *(f"{ids[name]};" for name in network.features),
    ]
    joint = quick_joint(network)
    found = {arc: arc_strength(network, *arc, joint) if strengths else 0.0 for arc in network.arcs}
    most = max((s for s in found.values() if not math.isnan(s)), default=0.0)
    for (parent, child), strength in found.items():
        attributes = ""
        if strengths and not math.isnan(strength):
            width = _THIN + (_THICK - _THIN) * (strength / most if most > 0 else 0.0)
            attributes = f' [penwidth={width:.3g}, tooltip="{strength:.4g} nats"]'
        lines.append(f"{ids[parent]} -> {ids[child]}{attributes};")
    return "\n".join(["digraph tanager {", *(f"  {line}" for line in lines), "}", ""])


def quoted(name: str) -> str:
    r"""Return a quoted name that Graphviz shows unchanged: it interprets ``\"``, ``\\`` and ``\n`` in labels."""
    shown = []
    for character in name:
        if character in {'"', "\\"}:
            shown.append(f"\\{character}")
        elif character == "\n":
            shown.append("\\n")
        elif character.isprintable():
            shown.append(character)
        else:  # direction marks, other line ends, null: escaped as in Python
            shown.append(repr(character)[1:-1].replace("\\", "\\\\"))
    return f'"{"".join(shown)}"'


def _distinct(texts: list[str]) -> list[str]:
    """Return unique texts: a name with an unprintable character and its escaped form would be the same node."""
    found: list[str] = []
    for text in texts:
        different, number = text, 2
        while different in found:
            different, number = f'{text[:-1]} ({number})"', number + 1
        found.append(different)
    return found
