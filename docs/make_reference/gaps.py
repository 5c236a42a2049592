"""Find what the reference lacks."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from .names import function_of, items, methods_of, module_name, modules, own_members, parameters_of, properties_of
from .text import parse


def gaps() -> list[str]:
    """Return a line for every public name, parameter and field without a description, and for every description without a name."""
    found = [f"{module_name(name)} has no docstring" for name, code in modules().items() if not parse(code).text]
    for item in items():
        found += gaps_of(item.import_name, item.value)
        if not isinstance(item.value, type):
            continue
        for name, member in own_members(item.value).items():
            whole = f"{methods_of(item).get(name, item).import_name}.{name}"
            function = function_of(item.value, name)
            if function is not None:
                found += gaps_of(whole, function)
            elif name in properties_of(item.value) and not parse(member).text:
                found.append(f"{whole} has no docstring")
    return sorted(set(found))


def gaps_of(name: str, value: Any) -> list[str]:
    """Return the gaps in the description of a function or class, without those of its members."""
    doc = parse(value)
    if not doc.text:
        return [f"{name} has no docstring"]
    section, given = _expected(value)
    entries = doc.entries(section)
    described = {each for entry in entries for each in entry.names}
    if section == "Attributes":
        described -= properties_of(value).keys()
    found = [f"{name}: {each!r} has no description" for each in given - described]
    found += [f"{name}: {each!r} is described, but does not exist" for each in described - given]
    listed = [*doc.entries("Parameters"), *doc.entries("Attributes")]
    found += [f"{name}: the description of {', '.join(entry.names)} is empty" for entry in listed if not entry.text]
    return found


def _expected(value: Any) -> tuple[str, set[str]]:
    """Return the section that must describe the members of a value, and their names.

    For records these are the fields. Other classes that users do not instantiate, such as `Network`, have no parameters to
    describe.
    """
    if not isinstance(value, type):
        return "Parameters", {parameter.name for parameter in parameters_of(value)}
    fields = getattr(value, "__dataclass_fields__", None) or getattr(value, "_fields", None)
    if fields:
        return "Attributes", {name for name in fields if not name.startswith("_")}
    made_by_users = issubclass(value, BaseEstimator)
    return "Parameters", {parameter.name for parameter in parameters_of(value)} if made_by_users else set()
