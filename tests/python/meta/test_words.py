"""Words that CONTRIBUTING.md replaces do not come back: in docstrings, messages, guides, public headers, bindings, the command line,
experiments and benchmarks."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from paths import ROOT

#: Pattern -> what to write instead. Only the worst of the glossary in CONTRIBUTING.md: words with other good uses are left out.
WORDS = {
    r"whole numbers?": "integer",
    r"not negative": "non-negative",
    r"refus(?:es?|ed|ing|al)": "reject, raise an error",
    r"judg(?:es?|ed|ing|e?ments?)": "evaluate",
    r"but [\w.{}!:' ]{1,40} came": "expected X, got Y",
    r"was expected, but": "expected X, got Y",
    r"missing cells?|blank cells?|cells? (?:is|are) missing|missing in cells?": "missing value",
    r"(?:is|are|be|was|were) cut(?: into| by)?|cuts? (?:numbers?|columns?)|numbers? to be cut": "discretize, bin",
    r"again and again": "repeatedly, several passes",
    r"at hand": "available",
    r"in vain": "without success",
    r"(?<!there )(?-i:is none)": "is not a ...",
    r"(?<!there )(?:is|are) no (?:features?|numbers?|text|categor(?:y|ies)|labels?|files?)": "is not a ...",
    r"of (?:its|their|his|our) own": "its own, separate",
    r"of (?:ours|yours)": "our, your",
    r"whole or not at all|as a whole or not": "atomically",
    r"beliefs? in (?:the |an )?edges?": "prior edge weights",
    r"learners that last": "long-running learners",
    r"log scores?": "log loss",
    r"pictures?": "plot, figure",
    r"turned arcs?|arcs? (?:are |is )?turned": "reversed",
    r"speaks? (?:for|against)": "contribution",
    r"(?:is|are|be|was|were) told": "gets, receives",
    r"tells?": "reports, shows, returns",
    r"who(?:ever)? (?:asks|wants|knows)": "callers",
    r"learned anew|made anew": "refitted, rebuilt",
    r", so that": "so",
    r"shelf|shelves": "arena",
    r"guarded": "synchronized",
    r"peers?": "other libraries",
    r"the most (?:parents|values|steps|features|iterations|cells|classes|columns|pairs|trees)": "maximum number of",
    r"as (?:it|they) (?:is|are|come|stands?)(?=[.,;:)]|$)": "unchanged",
}
PATTERN = re.compile("|".join(rf"\b(?:{words})\b" for words in WORDS), re.IGNORECASE)

#: The glossary itself, pages generated from docstrings, and the names of settings in old model files.
EXCEPT = ("CONTRIBUTING.md", "docs/api/", "python/tanager/_model_file.py")


def python_texts(path: Path) -> list[str]:
    """The docstrings and messages of a module, without names in backquotes."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [re.sub(r"`+[^`\n]*`+", "", text) for text in found]


def markdown_text(path: Path) -> str:
    """A page without the code in it, whose output is that of the library."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def header_comments(path: Path) -> str:
    return "\n".join(re.findall(r"//+(.*)", path.read_text(encoding="utf-8")))


def cpp_messages(path: Path) -> list[str]:
    """The string literals of a C++ file."""
    code = re.sub(r"//.*|#include .*", "", path.read_text(encoding="utf-8"))
    return re.findall(r'"((?:[^"\\\n]|\\.)*)"', code)


def found_in(text: str) -> list[str]:
    return [match.group() for match in PATTERN.finditer(re.sub(r"\s+", " ", text))]


def files() -> list[Path]:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("*/README.md"), *(ROOT / "docs").rglob("*.md")]
    native = [path for folder in ("cpp", "python/bindings", "benchmarks") for path in (ROOT / folder).rglob("*.[ch]pp")]
    folders = ("python/tanager", "docs", "experiments", "benchmarks")
    modules = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    every = [*modules, *pages, *native]
    return sorted(path for path in every if not path.relative_to(ROOT).as_posix().startswith(EXCEPT))


def words_of(path: Path) -> list[str]:
    if path.suffix == ".py":
        return [word for text in python_texts(path) for word in found_in(text)]
    if path.suffix == ".md":
        return found_in(markdown_text(path))
    comments = "" if path.is_relative_to(ROOT / "cpp" / "src") else header_comments(path)
    return [word for text in [*cpp_messages(path), comments] for word in found_in(text)]


@pytest.mark.parametrize("path", files(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_words_of_the_glossary_are_not_used(path: Path) -> None:
    assert words_of(path) == [], "CONTRIBUTING.md lists what to write instead"


def test_every_pattern_finds_something() -> None:
    samples = (
        "a whole number, not negative; refuses; judged; a str was expected, but a list came; blank cells; numbers to be cut",
        "again and again; at hand; in vain; it is none; that is no feature; of its own; of ours; whole or not at all",
        "beliefs in edges; learners that last; log score; a picture; turned arcs; speaks for it; is told; tells; who asks",
        "learned anew; it fails, so that nothing; a shelf; guarded; peers; the most steps; shown as they are;",
        "but a list came",
    )
    assert [words for words in WORDS if not re.search(words, " ".join(samples))] == []
    assert found_in("Return a contribution: expected an integer, got 3; missing values are marginalized.") == []


def test_texts_are_looked_at() -> None:
    assert len(files()) > 200
    assert any("Return" in text for text in python_texts(ROOT / "python" / "tanager" / "cli" / "options.py"))
    assert "tanager" in markdown_text(ROOT / "README.md")
    assert "it is not a tanager model file" in cpp_messages(ROOT / "cpp" / "src" / "model_file" / "format.cpp")
    assert "Queries" in header_comments(ROOT / "cpp" / "include" / "tanager" / "queries.hpp")
