from __future__ import annotations

import gc
import math
import os
import pickle
import struct
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from paths import DATA

from tanager import _core

FEATURES = [
    ("größe", ["klein", "", "日本語", "🦜\0x"], None),
    ("zahl", [-(2**63), 2**53 + 1, 2**63 - 1], None),
    ("flag", [True, False], None),
    ("real", [-0.0, 5e-324, 0.1 + 0.2], None),
    ("cut", None, np.array([-1e308, -0.0, 5e-324, 2.5])),
    ("never seen", [], None),
]
CARDINALITIES = [4, 3, 2, 3, 5, 1]
PARENTS = [[], [0], [1, 0], [], [2], [4]]
CLASSES = ["ja", False, -7]
SETTINGS = '{"alpha": 1.0, "α": "β"}'


def make_network() -> _core.Network:
    """Build tables of small integers, whose quotients are the same on every platform."""
    tables = []
    for feature, parents in enumerate(PARENTS):
        shape = (*(CARDINALITIES[p] for p in parents), CARDINALITIES[feature], len(CLASSES))
        table = 1.0 + np.arange(math.prod(shape)).reshape(shape) * 7 % 11
        tables.append(np.ascontiguousarray(table / table.sum(axis=-2, keepdims=True)))
    return _core.Network(PARENTS, CARDINALITIES, np.array([0.5, 0.25, 0.25]), tables)


def make_counts() -> _core.CountSet:
    families = [(2, [0, 1])]
    n_cells = _core.CountSet(CARDINALITIES, len(CLASSES), "pairs", families).cells().size
    return _core.CountSet.from_cells(CARDINALITIES, len(CLASSES), "pairs", families, np.arange(n_cells) / 8)


def make_network_leaving_out() -> _core.Network:
    """Leave out two features, with tables of small integers as well."""
    parents = [[], None, [0], [2, 0], None, [3]]
    tables = []
    for feature, found in enumerate(parents):
        shape = () if found is None else (*(CARDINALITIES[p] for p in found), CARDINALITIES[feature], len(CLASSES))
        table = 1.0 + np.arange(math.prod(shape) if shape else 0).reshape(shape or (0, 1)) * 5 % 7
        tables.append(np.ascontiguousarray(table / table.sum(axis=-2, keepdims=True)))
    return _core.Network(parents, CARDINALITIES, np.array([0.5, 0.25, 0.25]), tables)


def make_general_network() -> _core.Network:
    """Let the class have two parents and no arc to some features, and leave one feature out."""
    parents, children, class_parents = (
        [[], [0], [1, 0], None, [2], []],
        [False, False, True, False, True, False],
        [0, 1],
    )
    tables = []
    for feature, found in enumerate(parents):
        shape = (0,) if found is None else (*(CARDINALITIES[p] for p in found), CARDINALITIES[feature])
        shape += (len(CLASSES),) if children[feature] else (1,)
        table = 1.0 + np.arange(math.prod(shape)).reshape(shape) * 5 % 7
        tables.append(np.ascontiguousarray(table / table.sum(axis=-2, keepdims=True)))
    of_class = 1.0 + np.arange(36).reshape(4, 3, 3) * 5 % 7
    structure = _core.Structure(parents, children, class_parents)
    return _core.Network(structure, CARDINALITIES, of_class / of_class.sum(axis=-1, keepdims=True), tables)


def make_averages() -> _core.Aode:
    """Average over the models of all features, from counts that are multiples of 1/8."""
    return _core.learn_aode(make_counts(), 0.5, 3.0, [0.5, 0.25, 0.25])


def make_tree_average() -> _core.Tbmatan:
    """Average over all trees, some of which are more probable beforehand; it holds its counts itself."""
    n_cells = _core.CountSet(CARDINALITIES, len(CLASSES), "pairs").cells().size
    counts = _core.CountSet.from_cells(CARDINALITIES, len(CLASSES), "pairs", [], np.arange(n_cells) / 8)
    beliefs = np.ones((6, 6))
    beliefs[0, 1] = beliefs[1, 0] = 2.5
    beliefs[2, 3] = beliefs[3, 2] = 0.0
    return _core.Tbmatan(counts, 2.5, 5.0, beliefs, [0.5, 0.25, 0.25], 100, 7)


CLASSIFIERS = {
    "network": make_network,
    "leaving-out": make_network_leaving_out,
    "aode": make_averages,
    "tbmatan": make_tree_average,
    "general": make_general_network,
}
#: Which of them files of each format may hold; format 1 knew networks only.
FORMATS = {
    2: ["network", "leaving-out", "aode"],
    3: ["network", "leaving-out", "aode", "tbmatan"],
    4: list(CLASSIFIERS),
}


def make_model_of(kind: str) -> _core.Model:
    counts = None if kind == "tbmatan" else make_counts()
    return _core.Model.build(CLASSIFIERS[kind](), FEATURES, CLASSES, SETTINGS, counts)


def make_model(*, counts: bool = True) -> _core.Model:
    return _core.Model.build(make_network(), FEATURES, CLASSES, SETTINGS, make_counts() if counts else None)


def exact(label: object) -> tuple[type, object]:
    """Distinguish 1, 1.0 and True, and 0.0 from -0.0."""
    return type(label), label.hex() if isinstance(label, float) else label


def tables_of(classifier: _core.Network | _core.Aode | _core.Tbmatan) -> list[bytes]:
    features = range(classifier.n_features)
    classes = b"" if isinstance(classifier, _core.Network) else classifier.class_probabilities.tobytes()
    if isinstance(classifier, _core.Tbmatan):
        settings = [classifier.equivalent_sample_size, classifier.stubbornness, classifier.max_assignments]
        numbers = np.array([*settings, classifier.n_trees]), classifier.edge_beliefs, *classifier.edge_weights
        return [classifier.counts.cells().tobytes(), *(array.tobytes() for array in numbers), classes]
    if isinstance(classifier, _core.Network):
        tables = [classifier.table(f).tobytes() for f in features if classifier.parents[f] is not None]
        return [classifier.class_table.tobytes(), *tables]
    pairs = [classifier.pair(p, i).tobytes() for p in features for i in features if i != p]
    return [classes, *pairs, *(classifier.single(f).tobytes() + classifier.value_counts(f).tobytes() for f in features)]


def assert_same(a: _core.Model, b: _core.Model) -> None:
    assert type(a.classifier) is type(b.classifier)
    assert getattr(a.classifier, "structure", None) == getattr(b.classifier, "structure", None)
    assert getattr(a.classifier, "min_count", None) == getattr(b.classifier, "min_count", None)
    assert a.classifier.cardinalities == b.classifier.cardinalities
    assert tables_of(a.classifier) == tables_of(b.classifier)
    for (name, labels, cuts), (other_name, other_labels, other_cuts) in zip(a.features, b.features, strict=True):
        assert name == other_name
        assert (labels is None) == (other_labels is None)
        assert (cuts is None) == (other_cuts is None)
        if labels is not None:
            assert [exact(label) for label in labels] == [exact(label) for label in other_labels]
        if cuts is not None:
            assert cuts.tobytes() == other_cuts.tobytes()
    assert [exact(label) for label in a.classes] == [exact(label) for label in b.classes]
    assert a.settings == b.settings
    assert a.counts == b.counts


@pytest.mark.parametrize("counts", [True, False])
def test_bytes_and_files_round_trip_exactly(counts: bool, tmp_path: Path) -> None:
    model = make_model(counts=counts)
    data = model.to_bytes()
    assert_same(_core.Model.from_bytes(data), model)
    assert _core.Model.from_bytes(data).to_bytes() == data
    path = tmp_path / "größe 🦜.tng"
    model.save(path)
    assert path.read_bytes() == data
    assert_same(_core.Model.load(str(path)), model)
    assert_same(_core.Model.load(os.fsencode(path)), model)
    assert list(tmp_path.iterdir()) == [path]


def test_descriptions_come_back_as_they_were_given() -> None:
    model = make_model()
    for (name, labels, cuts), (given_name, given_labels, given_cuts) in zip(model.features, FEATURES, strict=True):
        assert name == given_name
        if given_labels is None:
            assert labels is None
            assert cuts.tobytes() == given_cuts.tobytes()
        else:
            assert [exact(label) for label in labels] == [exact(label) for label in given_labels]
            assert cuts is None
    assert [exact(label) for label in model.classes] == [exact(label) for label in CLASSES]
    assert model.settings == SETTINGS
    assert model.counts == make_counts()
    assert make_model(counts=False).counts is None


def test_files_of_every_released_format_still_load() -> None:
    assert_same(_core.Model.load(DATA / "format-1.tng"), make_model())
    for number, kinds in FORMATS.items():
        for kind in kinds:
            assert_same(_core.Model.load(DATA / f"format-{number}-{kind}.tng"), make_model_of(kind))


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_the_current_format_has_not_changed_by_accident(kind: str) -> None:
    # If this fails on purpose, raise the format number, keep the old files and add those of the new number.
    assert (DATA / f"format-{max(FORMATS)}-{kind}.tng").read_bytes() == make_model_of(kind).to_bytes()


def test_a_model_is_of_one_kind() -> None:
    model = make_model_of("aode")
    assert isinstance(model.classifier, _core.Aode)
    with pytest.raises(ValueError, match="the model is not a network"):
        _ = model.network


def test_averages_and_predictor_keep_the_model_alive() -> None:
    classifier, predictor = make_model_of("aode").classifier, make_model_of("aode").predictor
    gc.collect()
    assert tables_of(classifier) == tables_of(make_averages())
    columns = [np.zeros(3, np.uint8) for _ in CARDINALITIES]
    expected = _core.AodePredictor(make_averages()).predict(columns, 3, "posterior")
    assert predictor.predict(columns, 3, "posterior").tobytes() == expected.tobytes()


def test_network_and_predictor_keep_the_model_alive() -> None:
    expected = make_model()
    network = make_model().network
    predictor = make_model().predictor
    gc.collect()
    assert network.table(2).tobytes() == expected.network.table(2).tobytes()
    columns = [np.zeros(3, np.uint8) for _ in CARDINALITIES]
    assert (
        predictor.predict(columns, 3, "posterior").tobytes()
        == expected.predictor.predict(columns, 3, "posterior").tobytes()
    )


def test_counts_are_a_copy() -> None:
    model = make_model()
    counts = model.counts
    counts += make_counts()
    assert model.counts == make_counts()
    assert counts != model.counts


def test_values_are_encoded() -> None:
    model = make_model()
    missing = 0xFFFF
    assert [model.encode(0, value) for value in ["klein", "", "日本語", "🦜\0x", "?", 1]] == [
        0,
        1,
        2,
        3,
        missing,
        missing,
    ]
    assert [model.encode(1, value) for value in ["9007199254740993", -(2.0**63), 5]] == [1, 0, missing]
    assert [model.encode(2, value) for value in ["True", "false", True, 0]] == [0, 1, 0, 1]
    assert [model.encode(4, value) for value in [-math.inf, 0, "5e-324", 2.5, 3, math.nan]] == [0, 1, 2, 3, 4, missing]
    assert [model.class_name(c) for c in range(3)] == ["ja", "false", "-7"]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"features": FEATURES[:-1]}, ValueError, "the model has 6 features, but 5 were described"),
        ({"classes": ["a", "b"]}, ValueError, "the model has 3 classes, but 2 class labels were given"),
        ({"classes": ["a", "b", "a"]}, ValueError, "the class has equal labels at 0 and 2: a and a"),
        ({"classes": ["a", 1, True]}, ValueError, "equal labels at 1 and 2"),
        ({"classes": ["a", "b", 2**63]}, ValueError, "the class has the label 9223372036854775808, but integers"),
        ({"classes": ["a", "b", -(2**63) - 1]}, ValueError, "must fit 64 bits"),
        (
            {"classes": ["a", "b", None]},
            TypeError,
            "a label of type NoneType, but labels must be of type bool, int, float",
        ),
        ({"classes": ["a", "b", np.int8(1)]}, TypeError, "a label of type int8"),
        ({"classes": ["a", "b", "\ud800"]}, ValueError, "a label of the class cannot be written as UTF-8"),
        ({"classes": ["a", "b", math.nan]}, ValueError, "NaN stands for a missing value"),
        ({"settings": "\udc80"}, ValueError, "the settings cannot be written as UTF-8"),
        ({"features": [("x", None, None), *FEATURES[1:]]}, ValueError, "either labels or cut points"),
        ({"features": [("x", ["a"], np.zeros(3)), *FEATURES[1:]]}, ValueError, "either labels or cut points"),
        ({"features": [("x", ("a", "b", "c", "d"), None), *FEATURES[1:]]}, TypeError, "must be a list"),
        ({"features": [("x", None, np.zeros(3, np.float32)), *FEATURES[1:]]}, TypeError, "contiguous float64"),
        ({"features": [("x", None, np.arange(6.0)[::2]), *FEATURES[1:]]}, TypeError, "contiguous float64"),
        ({"features": [("x", None, [1.0, 2.0, 3.0]), *FEATURES[1:]]}, TypeError, "contiguous float64"),
        (
            {"features": [(1, ["a"], None), *FEATURES[1:]]},
            TypeError,
            "name of a feature must be a str, but is of type int",
        ),
        ({"features": [("x", ["a"]), *FEATURES[1:]]}, TypeError, "described by a tuple"),
        ({"features": [("cut", FEATURES[0][1], None), *FEATURES[1:]]}, ValueError, "two are named 'cut'"),
        ({"counts": _core.CountSet([2], 3, "singles")}, ValueError, "the model's own features and classes"),
    ],
)
def test_what_does_not_fit_is_rejected(change: dict[str, object], error: type[Exception], message: str) -> None:
    arguments = {"features": FEATURES, "classes": CLASSES, "settings": "", "counts": None} | change
    with pytest.raises(error, match=message):
        _core.Model.build(make_network(), **arguments)


def test_every_truncation_is_rejected() -> None:
    data = _core.Model.build(
        _core.Network([[]], [2], np.array([0.5, 0.5]), [np.full((2, 2), 0.5)]), [("f", ["a", "b"], None)], [0, 1]
    ).to_bytes()
    for length in range(len(data)):
        with pytest.raises(_core.ModelFileError, match="cannot read the model data"):
            _core.Model.from_bytes(data[:length])


def test_random_flips_are_rejected() -> None:
    data = make_model().to_bytes()
    rng = np.random.default_rng(1)
    for bit in rng.integers(8 * len(data), size=10_000):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << (bit % 8)
        with pytest.raises(_core.ModelFileError):
            _core.Model.from_bytes(bytes(flipped))


def test_a_newer_format_says_so() -> None:
    data = bytearray(make_model().to_bytes())
    data[8:12] = struct.pack("<I", 7)
    with pytest.raises(
        _core.ModelFileError, match="written by a newer tanager: its format is 7, this one reads up to 4"
    ):
        _core.Model.from_bytes(bytes(data))


def test_errors_name_path_and_reason(tmp_path: Path) -> None:
    model = make_model()
    with pytest.raises(_core.ModelFileError, match=r"cannot load the model file '.*none\.tng': No such file"):
        _core.Model.load(tmp_path / "none.tng")
    with pytest.raises(
        _core.ModelFileError, match=r"cannot save the model file '.*m\.tng': the folder '.*no' does not"
    ):
        model.save(tmp_path / "no" / "m.tng")
    with pytest.raises(_core.ModelFileError, match="it is a folder"):
        model.save(tmp_path)
    with pytest.raises(ValueError, match="null"):
        model.save(str(tmp_path / "a\0b"))
    with pytest.raises(TypeError):
        model.save(3)
    (tmp_path / "pickle.tng").write_bytes(pickle.dumps(list(range(100))))
    with pytest.raises(_core.ModelFileError, match="it is not a tanager model file"):
        _core.Model.load(tmp_path / "pickle.tng")
    assert [path.name for path in tmp_path.iterdir()] == ["pickle.tng"]


def test_threads_save_and_load_at_once(tmp_path: Path) -> None:
    """Every reader sees a whole file, though writers replace it all the time."""
    path = tmp_path / "m.tng"
    models = [make_model(), make_model(counts=False)]
    models[0].save(path)
    expected = {model.to_bytes() for model in models}

    def work(model: _core.Model) -> None:
        for _ in range(20):
            model.save(path)
            assert _core.Model.load(path).to_bytes() in expected

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(work, models[i % 2]) for i in range(4)]:
            done.result()
    assert list(tmp_path.iterdir()) == [path]
