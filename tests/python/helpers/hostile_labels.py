"""Labels that try whatever writes HTML, and a parser that looks at what was written."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pandas as pd

HOSTILE = [
    "</script><script>alert(1)</script>",
    "a\"b'c",
    "<b>&amp;",
    "\u202eright to left",
    "two\nlines",
    "$x^2$ {0}",
    "",
]


class Tags(HTMLParser):
    """Collects texts and tags, and checks that every tag that opens is closed in its turn."""

    def __init__(self, html: str):
        super().__init__()
        self.tags, self.open, self.texts = set(), [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not {name for name, _ in attrs} - {"class", "style", "open"}
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def hostile() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    frame = pd.DataFrame(
        {name: np.array(HOSTILE, dtype=object)[(y + rng.integers(0, 6, 60)) % 7] for name in HOSTILE[:6]}
    )
    return frame, np.array(HOSTILE, dtype=object)[y]
