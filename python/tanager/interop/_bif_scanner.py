"""Places in a BIF text: comments, quotes, lines."""

from __future__ import annotations

import re
from bisect import bisect_right

from ._variables import shortened

_SPACE = re.compile(r"\s*")
_COMMENT_OR_QUOTE = re.compile(r'(?<![^\s({,|\[])"|//|/\*')


class Scanner:
    """Finds its way in a text with comments and quotes; the reader builds on it.

    Parameters
    ----------
    text : str
    source : str
        What messages call the text.
    """

    def __init__(self, text: str, source: str):
        self._source = source
        self._line_starts = [0, *(m.end() for m in re.finditer("\n", text))]
        self._text, self._mask = self._blanked(text)

    # -- places and messages

    def _where(self, position: int) -> str:
        line = bisect_right(self._line_starts, position)
        return f"{self._source}, line {line}: " if self._source else f"line {line}: "

    def _error(self, position: int, message: str) -> ValueError:
        return ValueError(self._where(position) + message)

    def _skip(self, position: int) -> int:
        return _SPACE.match(self._mask, position).end()  # type: ignore[union-attr]

    def _shown(self, position: int) -> str:
        found = self._text[position : position + 200].split()
        return repr(shortened(found[0], 30)) if found else "the end"

    def _expect(self, character: str, position: int, after: str) -> int:
        position = self._skip(position)
        if not self._mask.startswith(character, position):
            raise self._error(position, f"expected {character!r} {after}, but found {self._shown(position)}")
        return position + 1

    def _find(self, character: str, position: int, what: str) -> int:
        found = self._mask.find(character, position)
        if found < 0:
            raise self._error(position, f"expected {character!r} at the end of {what}, but there is none")
        return found

    def _blanked(self, text: str) -> tuple[str, str]:
        """Return the text with comments as spaces, and the same with quoted parts hidden, too; places stay the same."""
        parts, hidden, done = [], [], 0
        found = _COMMENT_OR_QUOTE.search(text)
        while found:
            start = found.start()
            closing, kind = {'"': ('"', "quote"), "//": ("\n", ""), "/*": ("*/", "comment")}[found.group()]
            end = text.find(closing, found.end())
            if kind and (end < 0 or (kind == "quote" and "\n" in text[start:end])):
                raise self._error(start, f"a {kind} begins here, but does not end")
            end = len(text) if end < 0 else end + len(closing)
            piece = text[start:end]
            before = text[done:start]
            blank = re.sub(r"[^\n]", " ", piece)
            parts += [before, piece if kind == "quote" else blank]
            hidden += [before, '"' + "q" * (len(piece) - 2) + '"' if kind == "quote" else blank]
            done = end
            found = _COMMENT_OR_QUOTE.search(text, done)
        return "".join([*parts, text[done:]]), "".join([*hidden, text[done:]])

    def _unquoted(self, start: int, end: int) -> str:
        """Return the text of a stretch, without spaces and quotes around it."""
        piece = self._text[start:end]
        mask = self._mask[start:end].strip()
        whole = len(mask) > 1 and mask[0] == mask[-1] == '"' and '"' not in mask[1:-1]
        return piece.strip()[1:-1] if whole else piece.strip()

    def _quoted(self, position: int) -> int | None:
        """Return the end of what is quoted from here, if it is."""
        if not self._mask.startswith('"', position):
            return None
        end = self._mask.find('"', position + 1)
        return end + 1 if end > 0 else None
