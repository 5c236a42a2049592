"""The order of the folders of the package: each imports only what stands to its left, except for a closed list of doors."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from paths import ROOT

PACKAGE = ROOT / "python" / "tanager"

#: Folders and modules of the package's root. Each may import only itself and what stands to its left.
LAYERS = [
    *("_core", "exceptions", "_utils", "discretize", "_encoding", "_learning", "tree_sums", "scores", "structure"),
    *("parameters", "network", "_streams", "classifiers", "averaging", "_model_file", "evaluation", "explain"),
    *("interop", "_layout", "plotting", "_report", "datasets", "dask", "cli"),
]

#: Convenience methods that lead to a layer on the right, and therefore import it when they are called.
DOORS = {
    ("network._network", "Network.plot"): "plotting",
    ("network._network", "Network.to_bif"): "interop",
    ("network._network", "Network.to_xmlbif"): "interop",
    ("network._network", "Network.to_networkx"): "interop",
    ("network._network", "Network.to_dot"): "interop",
    ("network._network", "Network.to_classifier"): "classifiers",
    ("averaging._posterior", "TreePosterior.plot_edges"): "plotting",
    ("averaging._posterior", "TreePosterior.plot_map_tree"): "plotting",
    ("explain._explanation", "Explanation.plot"): "plotting",
    ("classifiers._base", "BaseClassifier.explain"): "explain",
    ("classifiers._base", "BaseClassifier.report"): "_report",
    ("classifiers._base", "BaseClassifier.save"): "_model_file",
    ("classifiers._base", "BaseClassifier.__getstate__"): "_model_file",
    ("classifiers._base", "BaseClassifier.__setstate__"): "_model_file",
}

MOST_IN_ROOT = 10
MOST_IN_FOLDER = 18


@dataclass(frozen=True)
class Import:
    """An import of a module of the package, and the function it stands in; empty at the top level."""

    module: str
    function: str
    target: str
    names: tuple[str, ...]
    for_types: bool

    def __str__(self) -> str:
        where = f"{self.module}.{self.function}" if self.function else self.module
        return (
            f"{where} imports {', '.join(self.names)} from {self.target}"
            if self.names
            else f"{where} imports {self.target}"
        )


@cache
def modules() -> dict[str, Path]:
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def layer(module: str) -> str:
    return module.partition(".")[0]


class Imports(ast.NodeVisitor):
    """Collects the imports of a module."""

    def __init__(self, module: str, path: Path) -> None:
        self.module = module
        self.package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
        self.package = [part for part in self.package if part]
        self.scope: list[str] = []
        self.in_function = False
        self.for_types = False
        self.found: list[Import] = []
        self.visit(ast.parse(path.read_text(encoding="utf-8")))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.scope.append(node.name)
        self.generic_visit(node)
        self.scope.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outer, self.in_function = self.in_function, True
        self.scope.append(node.name)
        self.generic_visit(node)
        self.scope.pop()
        self.in_function = outer

    def visit_If(self, node: ast.If) -> None:
        outer = self.for_types
        self.for_types = outer or (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING")
        self.generic_visit(node)
        self.for_types = outer

    def visit_Import(self, node: ast.Import) -> None:
        assert not any(name.name.startswith("tanager") for name in node.names), f"{self.module}: use relative imports"

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        assert not (node.module or "").startswith("tanager"), f"{self.module}: use relative imports"
        if not node.level:
            return
        base = self.package[: len(self.package) - node.level + 1] + (node.module or "").split(".")
        source = ".".join(part for part in base if part)
        names = [name.name for name in node.names]
        children = {name: f"{source}.{name}".strip(".") for name in names}
        submodules = [child for child in children.values() if child in modules() or child == "_core"]
        plain = [name for name, child in children.items() if child not in submodules]
        for submodule in submodules:
            self._add(submodule, ())
        if plain and source:  # names of the root, such as __version__, need no folder
            self._add(source, tuple(plain))

    def _add(self, target: str, names: tuple[str, ...]) -> None:
        function = ".".join(self.scope) if self.in_function else ""
        self.found.append(Import(self.module, function, target, names, self.for_types))


@cache
def imports() -> list[Import]:
    return [found for module, path in modules().items() for found in Imports(module, path).found]


def is_door(found: Import) -> bool:
    return DOORS.get((found.module, found.function)) == layer(found.target)


def test_every_module_has_a_layer() -> None:
    assert {layer(module) for module in modules()} - {"", "__main__"} == set(LAYERS) - {"_core"}


def test_layers_import_only_what_stands_to_their_left() -> None:
    own = [found for found in imports() if not found.for_types and layer(found.module) in LAYERS and not is_door(found)]
    assert len(own) > 400
    order = {name: i for i, name in enumerate(LAYERS)}
    assert [str(found) for found in own if order[layer(found.target)] > order[layer(found.module)]] == []


def test_functions_import_only_through_doors() -> None:
    inside = [found for found in imports() if found.function and layer(found.module) != "cli"]
    assert [str(found) for found in inside if not is_door(found)] == []
    assert {(found.module, found.function) for found in inside} == set(DOORS)


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    graph: dict[str, set[str]] = {module: set() for module in modules()}
    for found in imports():
        if not found.for_types and not is_door(found) and found.target != found.module:
            graph[found.module].add(found.target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


def test_private_names_stay_in_their_folder() -> None:
    across = [found for found in imports() if found.names and layer(found.module) != layer(found.target)]
    private = {found for found in across for name in found.names if name.startswith("_") and not name.endswith("__")}
    assert sorted(map(str, private)) == []


def test_folders_are_of_a_size_to_read() -> None:
    sizes: dict[Path, int] = {}
    for path in modules().values():
        sizes[path.parent] = sizes.get(path.parent, 0) + 1
    assert sizes.pop(PACKAGE) <= MOST_IN_ROOT
    assert {folder.name: n for folder, n in sizes.items() if n > MOST_IN_FOLDER} == {}
