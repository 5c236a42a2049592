"""`_core.pyi` is kept by hand; these tests keep it true to the compiled module."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import tanager
from tanager import _core

STUB = ast.parse(Path(tanager.__file__).with_name("_core.pyi").read_text(encoding="utf-8"))
# Members that every class of pybind11 has, or that Python adds to every class.
COMMON = {"__doc__", "__module__", "__weakref__", "_pybind11_conduit_v1_", "__static_attributes__", "__firstlineno__"}

Arguments = list[tuple[str, bool]]


def members(body: list[ast.stmt]) -> dict[str, ast.stmt]:
    """What a stub declares, without its own type aliases."""
    found: dict[str, ast.stmt] = {}
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found[node.name] = node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            is_alias = isinstance(node.annotation, ast.Name) and node.annotation.id == "TypeAlias"
            if not is_alias:
                found[node.target.id] = node
    return found


def compiled_members(cls: type) -> dict[str, object]:
    # A class without constructors has pybind11's __init__, which only raises.
    return {
        name: value
        for name, value in vars(cls).items()
        if name not in COMMON and not (name == "__init__" and "self:" not in (value.__doc__ or ""))
    }


def stub_arguments(node: ast.FunctionDef) -> Arguments:
    """Names of the arguments, and whether each has a default; operators have no names worth comparing."""
    plain = [*node.args.posonlyargs, *node.args.args]
    first_default = len(plain) - len(node.args.defaults)
    return [
        ("" if argument in node.args.posonlyargs and argument.arg != "self" else argument.arg, i >= first_default)
        for i, argument in enumerate(plain)
    ]


def compiled_arguments(function: object) -> list[Arguments]:
    """The same of every overload, read from the signatures that pybind11 writes into the docstring."""
    signatures = re.findall(r"^(?:\d+\. )?(\w+\(.*\) -> .+)$", function.__doc__ or "", re.MULTILINE)
    nodes = [ast.parse(f"def {signature}: ...").body[0] for signature in signatures]
    overloads = [stub_arguments(node) for node in nodes if isinstance(node, ast.FunctionDef)]
    return [[("" if re.fullmatch(r"arg\d+", name) else name, default) for name, default in one] for one in overloads]


def functions() -> list[tuple[str, ast.FunctionDef, object]]:
    found = []
    for name, node in members(STUB.body).items():
        if isinstance(node, ast.FunctionDef):
            found.append((name, node, getattr(_core, name, None)))
        elif isinstance(node, ast.ClassDef):
            cls = getattr(_core, name, object)
            for member, inner in members(node.body).items():
                if isinstance(inner, ast.FunctionDef) and "property" not in decorators(inner):
                    found.append((f"{name}.{member}", inner, getattr(cls, member, None)))
    return found


def decorators(node: ast.FunctionDef) -> set[str]:
    return {decorator.id for decorator in node.decorator_list if isinstance(decorator, ast.Name)}


def test_module_and_stub_have_the_same_names() -> None:
    compiled = {name for name in vars(_core) if not name.startswith("_")} | {"__version__"}
    assert set(members(STUB.body)) == compiled


@pytest.mark.parametrize("name", [node.name for node in STUB.body if isinstance(node, ast.ClassDef)])
def test_classes_have_the_same_members(name: str) -> None:
    node = members(STUB.body)[name]
    assert isinstance(node, ast.ClassDef)
    declared, compiled = members(node.body), compiled_members(getattr(_core, name))
    assert set(declared) == set(compiled)
    for member, inner in declared.items():
        kinds = decorators(inner) if isinstance(inner, ast.FunctionDef) else set()
        assert ("property" in kinds) == isinstance(compiled[member], property), member
        assert ("staticmethod" in kinds) == isinstance(compiled[member], staticmethod), member


@pytest.mark.parametrize(("name", "node", "compiled"), [pytest.param(*f, id=f[0]) for f in functions()])
def test_functions_have_the_same_arguments(name: str, node: ast.FunctionDef, compiled: object) -> None:
    overloads = compiled_arguments(compiled)
    assert overloads, f"{name} has no signature in its docstring"
    for overload in overloads:
        assert stub_arguments(node) == overload


def test_model_file_errors_are_value_errors() -> None:
    assert issubclass(_core.ModelFileError, ValueError)
