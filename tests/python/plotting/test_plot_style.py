"""Text stands out from its background, whatever the style is."""

from __future__ import annotations

import pytest

mpl = pytest.importorskip("matplotlib")

from picture_hashes import PICTURES

from tanager.plotting._style import background, gray, hue, shade

NAMES = [
    "tree",
    "tree with tables",
    "explanation",
    "search",
    "reliability",
    "roc of many",
    "scores",
    "learning curve",
    "edges",
    "map tree",
]
STYLES = ["default", "dark_background", "ggplot", "Solarize_Light2", "grayscale", "fivethirtyeight"]


def lightness(color):
    red, green, blue = mpl.colors.to_rgb(color)
    return 0.299 * red + 0.587 * green + 0.114 * blue


def texts_of(figure):
    """All texts that are shown, and the colors that they stand on."""
    for ax in figure.axes:
        ticks = [*ax.get_xticklabels(), *ax.get_yticklabels()] if ax.axison else []
        outside = [ax.title, ax._left_title, *ticks, *([ax.xaxis.label, ax.yaxis.label] if ax.axison else [])]
        legend = ax.get_legend()
        inside = [*ax.texts, *([] if legend is None else [*legend.get_texts(), legend.get_title()])]
        for text in [*outside, *inside]:
            if text.get_text():
                yield text, background(ax, outside=text in outside)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # old versions of matplotlib, of a new parser
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("style", STYLES[:2])
def test_text_is_legible(style, name):
    import matplotlib.pyplot as plt

    with mpl.rc_context({"backend": "Agg"}), plt.style.context(style):
        ax = PICTURES[name]()
        found = list(texts_of(ax.figure))
        plt.close(ax.figure)
    assert len(found) > 3
    for text, behind in found:
        if mpl.colors.to_rgb(text.get_color()) == behind:
            assert text.get_text() == "class"  # in a box of a separate color
            continue
        assert abs(lightness(text.get_color()) - lightness(behind)) >= 0.35, (text.get_text(), text.get_color())


@pytest.mark.parametrize("style", STYLES)
def test_shades_follow_the_style(style):
    import matplotlib.pyplot as plt

    with mpl.rc_context({"backend": "Agg"}), plt.style.context(style):
        figure, ax = plt.subplots()
        behind = background(ax)
        assert behind == mpl.colors.to_rgb(ax.get_facecolor())
        contrasts = [abs(lightness(gray(ax, level)) - lightness(behind)) for level in (0.0, 0.35, 0.7, 0.9)]
        assert contrasts == sorted(contrasts, reverse=True)
        assert contrasts[1] > 0.3
        assert abs(lightness(shade(ax, 1.0)) - lightness(behind)) > 0.4
        plt.close(figure)


def test_a_dark_figure_needs_no_style():
    import matplotlib.pyplot as plt

    with mpl.rc_context({"backend": "Agg"}), plt.style.context("default"):
        figure, ax = plt.subplots(facecolor="#101010")
        ax.set_facecolor("none")
        assert lightness(gray(ax, 0.0)) > 0.95
        assert lightness(hue(ax, "#215a9e")) > lightness("#215a9e") + 0.2
        ax.set_facecolor("white")
        assert gray(ax, 0.35) == pytest.approx((0.35, 0.35, 0.35))
        assert lightness(gray(ax, 0.35, outside=True)) > 0.6
        assert hue(ax, "#215a9e") == "#215a9e"
        plt.close(figure)
