"""Shared style of plots: colors, font sizes, axes, and labels as plain text."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import takewhile
from typing import Any

from .._utils.optional import import_optional
from .._utils.text import display_label

#: Line height relative to the font size.
LINE = 1.75
FONT_SIZE = 9.0
POINTS_PER_INCH = 72
INCH = FONT_SIZE / POINTS_PER_INCH
#: Widths of the thinnest and the thickest lines between variables, in points.
THIN, THICK = 0.4, 6.0
#: Colors of evidence for and against a class, and the gray level of sums.
FOR, AGAINST, SUM = "#215a9e", "#c4623b", 0.45
#: Colors of classes and classifiers, and the gray level of those beyond the last color.
COLORS = (FOR, AGAINST, "#3f8f6b", "#8b5ba6", "#b58a1f", "#4aa0b5")
OTHERS = 0.72
#: Hinting moves letters to whole pixels, which makes text wider by up to this factor.
_HINTING = 1.07
Color = tuple[float, float, float]
_FONT_SETTINGS = ("family", "sans-serif", "serif", "monospace", "style", "variant", "weight", "stretch")
#: Maximum share of the width for the names of rows.
_MAX_NAMES = 0.65
#: Minimum font size, in points.
_SMALLEST = 5.0


def check_matplotlib() -> None:
    """Raise an ImportError with the command to install matplotlib if it is missing."""
    import_optional("matplotlib", "plotting")


def new_axes(width: float, height: float) -> Any:
    """Return axes in a new figure of this size in inches."""
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def background(ax: Any, *, outside: bool = False) -> Color:
    """Return the background color inside the axes, or outside of them."""
    from matplotlib.colors import to_rgb, to_rgba

    figure = ax.figure.get_facecolor()
    under = to_rgb(figure) if to_rgba(figure)[3] > 0 else (1.0, 1.0, 1.0)
    if outside or not ax.axison:
        return under
    *own, alpha = to_rgba(ax.get_facecolor())
    return _mixed(tuple(own), under, alpha)  # type: ignore[arg-type]


def gray(ax: Any, level: float, *, outside: bool = False) -> Color:
    """Return a shade between the text color (level 0) and the background color (level 1).

    These are black and white unless the matplotlib style sets others. If the text color has too little contrast, black is
    used on light and white on dark backgrounds.
    """
    import matplotlib as mpl
    from matplotlib.colors import to_rgb

    behind = background(ax, outside=outside)
    ink = to_rgb(mpl.rcParams["text.color"])
    if abs(_lightness(ink) - _lightness(behind)) < _MIN_CONTRAST:
        ink = (1.0, 1.0, 1.0) if _is_dark(behind) else (0.0, 0.0, 0.0)
    # Dark shades are harder to distinguish than light ones.
    return _mixed(behind, ink, 0.85 * level if _is_dark(behind) else level)


def hue(ax: Any, color: str) -> Color | str:
    """Return a color unchanged for a light background, and lighter for a dark one."""
    from matplotlib.colors import to_rgb

    return _mixed((1.0, 1.0, 1.0), to_rgb(color), 0.4) if is_dark(ax) else color


def shade(ax: Any, strength: float) -> Color:
    """Return a color from pale gray to strong blue; weak edges stay visible."""
    pale, strong = ((0.3, 0.33, 0.37), (0.55, 0.77, 1.0)) if is_dark(ax) else _ON_LIGHT
    return _mixed(strong, pale, float(strength))


_ON_LIGHT = ((0.75, 0.78, 0.82), (0.13, 0.35, 0.62))
_MIN_CONTRAST = 0.35


def _mixed(color: Color, other: Color, share: float) -> Color:
    red, green, blue = (share * a + (1 - share) * b for a, b in zip(color, other, strict=True))
    return red, green, blue


def _lightness(color: Color) -> float:
    red, green, blue = color
    return 0.299 * red + 0.587 * green + 0.114 * blue


def is_dark(ax: Any) -> bool:
    """Return whether axes have a dark background."""
    return _is_dark(background(ax))


def _is_dark(color: Color) -> bool:
    return _lightness(color) < 0.5


def thickness(strength: float) -> float:
    """Return the width of a line of a strength from 0 to 1, in points."""
    return THIN + (THICK - THIN) * float(strength)


def short(label: Any, most: int = 32) -> str:
    """Return a label in one line of at most `most` characters; the middle is left out, because both ends distinguish names."""
    text = display_label(label)
    if len(text) <= most:
        return text
    tail = (most - 1) // 3
    return f"{text[: most - 1 - tail].rstrip()}…{text[len(text) - tail :].lstrip()}"


def distinct(labels: Iterable[Any], most: int = 32) -> list[str]:
    """Return labels shortened to one line each, distinct for distinct labels as far as possible.

    If shortening makes labels equal, their common beginning and end are left out instead.
    """
    texts = [display_label(label) for label in labels]
    found = [short(text, most) for text in texts]
    if len(set(found)) == len(set(texts)):
        return found
    long = [text for text in texts if len(text) > most]
    start = _n_shared(long)
    end = _n_shared([text[:start:-1] for text in long])
    cut = [f"…{text[start : len(text) - end]}{'…' if end else ''}" if len(text) > most else text for text in texts]
    again = [short(text, most) for text in cut]
    return again if len(set(again)) > len(set(found)) else found


def _n_shared(texts: list[str]) -> int:
    """Return the length of the common prefix of all texts."""
    return sum(1 for _ in takewhile(lambda found: len(set(found)) == 1, zip(*texts, strict=False)))


def text_width(text: str) -> float:
    """Return the width of the longest line of a text in font sizes; dollar signs do not start math."""
    import matplotlib as mpl

    settings: Any = mpl.rcParams
    font = str([settings[f"font.{name}"] for name in _FONT_SETTINGS])
    return max(_text_width(line, font) for line in text.split("\n"))


@lru_cache(maxsize=4096)
def _text_width(text: str, font: str) -> float:  # noqa: ARG001  # part of the cache key
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    if not text.strip():
        return 1.0
    width, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=10), ismath=False)
    return _HINTING * float(width) / 10


def fitting_size(ax: Any, width: float, height: float) -> float:
    """Return the font size, at most the default, at which `width` x `height` font sizes fit into the axes."""
    extent = ax.get_window_extent()
    to_points = POINTS_PER_INCH / ax.figure.dpi
    return float(min(FONT_SIZE, extent.width * to_points / width, extent.height * to_points / height))


def shape_of(ax: Any) -> float:
    """Return the aspect ratio (width / height) of axes."""
    extent = ax.get_window_extent()
    return float(extent.width / extent.height)


def write(ax: Any, x: float, y: float, text: str, **options: Any) -> Any:
    """Write text into axes without interpreting it as math."""
    style = {"parse_math": False, "va": "center", "fontsize": FONT_SIZE, "color": gray(ax, 0.0)}
    return ax.text(x, y, text, **{**style, **options})


def quiet(ax: Any, *, left: bool = True) -> None:
    """Hide the frame except for the bottom and, if `left`, the left side, and color these light gray."""
    for side in ("top", "right") if left else ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    for side in ("bottom", "left") if left else ("bottom",):
        ax.spines[side].set_color(gray(ax, 0.8, outside=True))
    ink = gray(ax, 0.35, outside=True)
    ax.tick_params(axis="both", labelsize=FONT_SIZE * 0.9, colors=ink, length=3 if left else 0)


def titled(
    ax: Any, title: str, x_label: str | None = None, y_label: str | None = None, size: float = FONT_SIZE + 1
) -> None:
    """Set the title, aligned to the left, and the axis labels."""
    ink = gray(ax, 0.35, outside=True)
    size = within(ax, title, size)
    ax.set_title(title, fontsize=size, loc="left", parse_math=False, color=gray(ax, 0.0, outside=True))
    if x_label is not None:
        ax.set_xlabel(x_label, fontsize=FONT_SIZE, color=ink, parse_math=False)
    if y_label is not None:
        ax.set_ylabel(y_label, fontsize=FONT_SIZE, color=ink, parse_math=False)


def within(ax: Any, text: str, size: float) -> float:
    """Return the font size at which a text that starts at the left of the axes approximately fits into the figure."""
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    taken = max((text_width(name) for name in names if name), default=2.0) * INCH
    room = (
        1.29 * ax.get_window_extent().width / ax.figure.dpi - taken - 0.3
    )  # the layout has not made room for labels yet
    return float(max(min(size, room * POINTS_PER_INCH / text_width(text)), _SMALLEST))


def named_rows(ax: Any, labels: list[str], pale: list[bool] | None = None) -> None:
    """Label the rows of a plot from top to bottom; in narrow axes long names are shortened."""
    room = _MAX_NAMES * ax.get_window_extent().width / ax.figure.dpi / INCH
    fitting = [short(x, max(8, int(len(x) * room / text_width(x)))) if text_width(x) > room else x for x in labels]
    ax.set_yticks(range(len(labels)), fitting, fontsize=FONT_SIZE)
    for i, tick in enumerate(ax.get_yticklabels()):
        tick.set_color(gray(ax, 0.6 if pale is not None and pale[i] else 0.1, outside=True))
        tick.set_parse_math(False)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)


def legend(ax: Any, entries: list[tuple[Any, str]], **options: Any) -> None:
    """Add a legend without a frame; texts may begin with an underscore."""
    lines = [line for line, _ in entries]
    style = {"fontsize": FONT_SIZE * 0.9, "frameon": False, "handlelength": 1.6, "labelcolor": gray(ax, 0.25)}
    found = ax.legend(lines, ["?"] * len(lines), **style, **options)  # matplotlib would skip labels like "_this"
    found.get_title().set_color(gray(ax, 0.0))
    for text, (_, label) in zip(found.get_texts(), entries, strict=True):
        text.set_parse_math(False)
        text.set_text(label)


def draw_key(ax: Any, y: float, size: float, strengths: list[tuple[float, str]], what: str = "") -> None:
    """Plot a key of line widths: lines of some strengths, from 0 to 1, with their labels."""
    x = 0.0
    for strength, text in strengths:
        width = thickness(strength) * size / FONT_SIZE
        ax.plot([x, x + 2], [y, y], color=shade(ax, strength), linewidth=width, solid_capstyle="butt")
        write(ax, x + 2.6, y, text, fontsize=size * 0.9, color=gray(ax, 0.35))
        x += 2.6 + 0.9 * text_width(text) + 1.6
    if what:
        write(ax, x, y, what, fontsize=size * 0.9, color=gray(ax, 0.35))
