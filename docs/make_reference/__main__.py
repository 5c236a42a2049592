"""Write all reference pages and the tables of what methods support; remove pages of deleted modules."""

from __future__ import annotations

from pathlib import Path

from .abilities import PAGE, with_tables
from .pages import reference_pages

FOLDER = Path(__file__).resolve().parents[1] / "api"


def main() -> None:
    """Write the files."""
    FOLDER.mkdir(exist_ok=True)
    pages = reference_pages()
    for path in FOLDER.glob("*.md"):
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
