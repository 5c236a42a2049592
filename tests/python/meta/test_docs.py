"""The pages for readers: links lead somewhere, none is lost, and what is written by a program is as it would be written now."""

from __future__ import annotations

import doctest
import re
import shlex
import sys
from functools import cache
from pathlib import Path

import pytest
from paths import ROOT

sys.path.insert(0, str(ROOT))

pytest.importorskip("dask", reason="its functions are in the reference")
pytest.importorskip("pandas", reason="methods are tried on a frame")

from docs.make_reference import abilities
from docs.make_reference.gaps import gaps, gaps_of
from docs.make_reference.pages import reference_pages
from docs.make_reference.text import slug
from tanager.cli import main

DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md"), *ROOT.glob("*/README.md")])


@cache
def text_of(page: Path) -> str:
    """The page without its code, in which nothing is a link or a heading."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^ {4}.*$", "", text, flags=re.MULTILINE)


@cache
def anchors(page: Path) -> set[str]:
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE):
        name = slug(heading)
        while name in found:  # nearly as on GitHub
            name += "-1"
        found.add(name)
    return found


def links(page: Path) -> list[tuple[Path, str]]:
    """The pages and places that a page leads to within the repository."""
    found = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"(?<!\[)`[^`\n]+`(?!\])", "", text_of(page)))
    inside = [address.partition("#") for address in found if "://" not in address]
    return [((page.parent / path).resolve() if path else page, anchor) for path, _, anchor in inside]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for path, anchor in links(page):
        assert path.exists(), path
        assert path.is_relative_to(ROOT), path
        assert not anchor or anchor in anchors(path), f"{path.relative_to(ROOT)} has no heading {anchor}"


def test_every_page_is_reached_from_the_index():
    seen: set[Path] = set()
    waiting = [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        seen.add(page)
        waiting += [path for path, _ in links(page) if path.suffix == ".md" and path not in seen]
    assert set(DOCS.rglob("*.md")) - seen == set()
    assert (DOCS / "index.md") in [path for path, _ in links(ROOT / "README.md")]


def test_every_public_name_and_parameter_is_described():
    assert gaps() == []


def test_gaps_are_found():
    def sample(a, b, *, c=1):
        """Do something.

        Parameters
        ----------
        a : int
        b : int
            A number.
        d : int
            Another.
        """

    found = gaps_of("sample", sample)
    assert len(found) == 3
    assert {"sample: 'c' has no description", "sample: 'd' is described, but does not exist"} < set(found)
    assert "sample: the description of a is empty" in found
    assert gaps_of("nothing", lambda: None) == ["nothing has no docstring"]


def test_the_reference_is_up_to_date():
    kept = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "api").glob("*.md")}
    pages = reference_pages()
    assert kept.keys() == pages.keys()
    assert [name for name in pages if kept[name] != pages[name]] == [], "run python -m docs.make_reference"


@pytest.mark.slow
def test_methods_can_do_what_the_page_says():
    page = abilities.PAGE.read_text(encoding="utf-8")
    assert page == abilities.with_tables(page), "run python -m docs.make_reference"


def test_commands_of_the_first_page_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "getting-started.md").read_text(encoding="utf-8")
    made = re.search(r"^## The data$(.*?)^## ", page, re.MULTILINE | re.DOTALL).group(1)
    assert (
        doctest.DocTestRunner().run(doctest.DocTestParser().get_doctest(made, {}, "getting-started.md", None, 0)).failed
        == 0
    )
    commands = re.search(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL).group(1).splitlines()
    assert len(commands) > 4
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "tanager"
        assert main(arguments) == 0, capsys.readouterr().err
    assert len((tmp_path / "predicted.csv").read_text(encoding="utf-8").splitlines()) == 1001


def test_the_architecture_names_every_folder():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w.]+)`", text))
    package = ROOT / "python" / "tanager"
    modules = {path.name for path in package.glob("*.py")} - {"__init__.py", "__main__.py"}
    folders = {path.name for path in package.iterdir() if (path / "__init__.py").exists()}
    stages = {path.name for path in (ROOT / "cpp" / "src").iterdir() if path.is_dir()}
    assert len(folders) > 15
    assert len(stages) > 15
    assert (modules | folders | stages) - named == set()
