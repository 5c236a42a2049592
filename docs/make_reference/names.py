"""Public names: their pages, members and signatures."""

from __future__ import annotations

import inspect
import textwrap
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import tanager

from .text import Docstring, parse, slug

#: Public modules that are not imported with the package, because they need optional dependencies.
APART = ["dask"]


@dataclass(frozen=True)
class Item:
    """A public class or function, and the page that describes it."""

    module: str  # such as "structure"; "" is the package itself
    name: str
    value: Any

    @property
    def page(self) -> str:
        """The file with its description."""
        return page_of(self.module)

    @property
    def import_name(self) -> str:
        """The name with which programs import it."""
        return f"{module_name(self.module)}.{self.name}"

    @property
    def address(self) -> str:
        """Its page and anchor."""
        return f"{self.page}#{slug(self.name)}"

    @property
    def doc(self) -> Docstring:
        """Its docstring."""
        return parse(self.value)


def page_of(module: str) -> str:
    """Return the file of a module's page."""
    return f"{module or 'tanager'}.md"


def module_name(module: str) -> str:
    """Return a module's name as a program imports it."""
    return f"tanager.{module}" if module else "tanager"


@cache
def modules() -> dict[str, ModuleType]:
    """Return the public modules, the package itself first."""
    names = [name for name in tanager.__all__ if isinstance(getattr(tanager, name), ModuleType)]
    return {"": tanager} | {name: import_module(f"tanager.{name}") for name in sorted([*names, *APART])}


@cache
def exported() -> dict[tuple[str, str], Item]:
    """All public names by module and name.

    Names that several modules export are described by one of them, rather than by the package.
    """
    found: dict[tuple[str, str], Item] = {}
    homes: dict[int, Item] = {}
    for module, code in reversed(modules().items()):  # the package comes last
        for name in code.__all__:
            value = getattr(code, name)
            if not isinstance(value, (ModuleType, str)):
                found[module, name] = homes.setdefault(id(value), Item(module, name, value))
    return found


def items(module: str | None = None) -> list[Item]:
    """Return the names described on one page, or on all, classes first."""
    found = [item for item in set(exported().values()) if module in (None, item.module)]
    return sorted(found, key=lambda item: (not isinstance(item.value, type), item.name.lower(), item.module))


def elsewhere(module: str) -> list[tuple[str, Item]]:
    """Return the names that a module exports and another one describes."""
    found = [(name, item) for (where, name), item in exported().items() if where == module and item.module != module]
    return sorted(found, key=lambda pair: pair[0].lower())


# -- members of classes


@cache
def own_members(value: type) -> dict[str, Any]:
    """Return the public members defined in tanager, including those of bases, without those of scikit-learn and Python."""
    found: dict[str, Any] = {}
    for base in value.__mro__:
        if base.__module__.startswith("tanager"):
            found |= {name: member for name, member in vars(base).items() if name not in found and name[0] != "_"}
    return found


def properties_of(value: type) -> dict[str, Any]:
    """Return the properties of a class."""
    kinds = ("property", "cached_property")
    return {name: member for name, member in own_members(value).items() if type(member).__name__ in kinds}


def function_of(value: type, name: str) -> Any:
    """Return the function behind a method, or None if the member is something else."""
    member = inspect.getattr_static(value, name)
    if isinstance(member, (staticmethod, classmethod)):
        return member.__func__
    if inspect.isfunction(member):
        return member
    return getattr(member, "fn", None)  # scikit-learn's available_if


@cache
def methods_of(item: Item) -> dict[str, Item]:
    """Return the methods of a class, and the class that describes each: the first that has it."""
    if not isinstance(item.value, type):
        return {}
    functions = {name: function_of(item.value, name) for name in own_members(item.value)}
    return {name: _home(function, name, item) for name, function in functions.items() if function is not None}


def _home(function: Any, name: str, item: Item) -> Item:
    classes = [other for other in items() if isinstance(other.value, type) and name in own_members(other.value)]
    same = [other for other in classes if function_of(other.value, name) is function]
    return min(same, key=lambda other: (other.name != "BayesNetClassifier", other.name), default=item)


# -- links


@cache
def _addresses(module: str) -> dict[str, str]:
    """Return link targets by name, seen from a module: its names take precedence, then those of the package."""
    found: dict[str, str] = {}
    for item in sorted(items(), key=lambda item: (item.module == module, not item.module)):
        found[item.name] = item.address
        found[item.import_name] = found[item.import_name.removeprefix("tanager.")] = item.address
        for name, home in methods_of(item).items():
            found[f"{item.name}.{name}"] = f"{home.page}#{slug(f'{home.name}.{name}')}"
    return found | {module_name(name): page_of(name) for name in modules()}


def link_to(name: str, module: str, owner: Item | None) -> str | None:
    """Return the address of a name in a docstring, relative to its page; None if it is not a public name."""
    home = methods_of(owner).get(name) if owner else None
    address = f"{home.page}#{slug(f'{home.name}.{name}')}" if home else _addresses(module).get(name)
    if address and address.startswith(f"{page_of(module)}#"):
        return address.removeprefix(page_of(module))
    return address


# -- signatures


def signature_of(value: Any, shown: str) -> str:
    """Return a call with its defaults, wrapped if it is long."""
    parameters = parameters_of(value)
    texts: list[str] = []
    for parameter in parameters:
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        if parameter.kind is parameter.KEYWORD_ONLY and not any(text.startswith("*") for text in texts):
            texts.append("*")
        default = "" if parameter.default is parameter.empty else f"={_literal(parameter.default)}"
        texts.append(f"{star}{parameter.name}{default}")
    line = f"{shown}({', '.join(texts)})"
    if len(line) <= 100:
        return line
    unbroken = ", ".join(text.replace(" ", "\0") for text in texts)
    inside = textwrap.fill(unbroken, 96, break_long_words=False, break_on_hyphens=False).replace("\0", " ")
    return f"{shown}(\n{textwrap.indent(inside, '    ')}\n)"


def parameters_of(value: Any) -> list[inspect.Parameter]:
    """Return the parameters of a function or constructor, without the object itself."""
    try:
        found = inspect.signature(value).parameters.values()
    except ValueError:  # compiled
        return []
    return [parameter for parameter in found if parameter.name != "self"]


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_literal, value)) + ("," if len(value) == 1 else "") + ")"
    return repr(value)
