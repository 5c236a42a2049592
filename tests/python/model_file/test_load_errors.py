"""What loading says of files that are not there, and of pickles whose parts do not belong together."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import tanager as tg
from tanager import _core
from tanager import parameters as pr
from tanager import structure as st


def test_a_missing_file_is_a_file_not_found_error(tmp_path):
    path = tmp_path / "none.tng"
    with pytest.raises(FileNotFoundError, match=r"cannot load the model file '.*none\.tng': No such file") as caught:
        tg.load(path)
    assert isinstance(caught.value, tg.ModelFileError)
    assert (caught.value.errno, caught.value.filename) == (2, str(path))
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again), again.filename) == (type(caught.value), str(caught.value), str(path))
    path.write_text("not a model")
    with pytest.raises(tg.ModelFileError, match="not a tanager model file") as caught:
        tg.load(path)
    assert not isinstance(caught.value, OSError)


def test_the_problem_of_a_model_file(tmp_path):
    clf = tg.NaiveBayesClassifier().fit([[0], [1]], [0, 1])
    clf.save(tmp_path / "good.tng")
    good = (tmp_path / "good.tng").read_bytes()
    cases = {
        "damaged": [good[:-1], good + b"x", good[:30], bytes([*good[:40], good[40] ^ 1, *good[41:]]), good[:8]],
        "too new": [good[:8] + (99).to_bytes(4, "little") + good[12:]],
        "not a model": [b"", b"name,value\n1,2\n"],
    }
    for problem, contents in cases.items():
        for content in contents:
            (tmp_path / "bad.tng").write_bytes(content)
            with pytest.raises(tg.ModelFileError) as caught:
                tg.load(tmp_path / "bad.tng")
            assert caught.value.problem == problem, content
    with pytest.raises(tg.ModelFileError, match="folder") as caught:
        tg.load(tmp_path)
    assert caught.value.problem == "not a model"
    for call, name in ((tg.load, "none.tng"), (tg.load, "good.tng/below"), (clf.save, "none/model.tng")):
        with pytest.raises(tg.ModelFileError) as caught:
            call(tmp_path / name)
        assert caught.value.problem == "not found"
    assert tg.ModelFileError("anything").problem == "other"
    with pytest.raises(tg.ModelFileError, match="name too long") as caught:
        tg.load(tmp_path / ("n" * 300))
    assert caught.value.problem == "other"


def test_paths_that_cannot_be_looked_up(tmp_path):
    (tmp_path / "circle").symlink_to("circle")
    for name, reason in (("n" * 300, "File name too long"), ("circle", "Too many levels of symbolic links")):
        with pytest.raises(tg.ModelFileError, match=f"cannot load the model file '.*{name}': {reason}") as caught:
            tg.load(tmp_path / name)
        assert not isinstance(caught.value, OSError)


def test_paths_that_are_empty_or_not_unicode(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    clf = tg.NaiveBayesClassifier().fit([[0], [1]], [0, 1])
    for call in (tg.load, clf.save):
        with pytest.raises(tg.ModelFileError, match="model file '': the path is empty"):
            call("")
    with pytest.raises(FileNotFoundError, match="cannot load the model file '\udcff'"):
        tg.load("\udcff")
    with pytest.raises(ValueError, match="null byte"):
        tg.load("a\0")
    clf.save("\udcff")
    assert [path.name for path in tmp_path.iterdir()] == ["\udcff"]
    for path in ("\udcff", b"\xff"):
        assert tg.load(path).predict([[1]]).tolist() == [1]


RENAMED = [
    (tg.TANClassifier("bic"), '"structure_score"', '"criterion"'),
    (tg.BayesNetClassifier(st.HillClimb(objective="cll", max_steps=1)), '"cll"', '"log_score"'),
    (tg.BayesNetClassifier(parameters=pr.ELR(tune_by="cll", max_iter=1)), '"cll"', '"loglik"'),
]


@pytest.mark.parametrize(("clf", "name", "old_name"), RENAMED, ids=[old for *_, old in RENAMED])
def test_settings_that_were_renamed_are_read(clf, name, old_name, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (60, 3)), rng.integers(0, 2, 60)
    clf.fit(X, y).save(tmp_path / "new.tng")
    model = _core.Model.load(str(tmp_path / "new.tng"))
    settings = model.settings.replace(name, old_name)
    assert settings != model.settings
    _core.Model.build(model.classifier, model.features, model.classes, settings, None).save(str(tmp_path / "old.tng"))
    loaded = tg.load(tmp_path / "old.tng")
    assert repr(loaded) == repr(clf)
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))


CLASSIFIERS = [tg.TANClassifier(), tg.AODEClassifier(), tg.TBMATANClassifier()]


@pytest.mark.parametrize("clf", CLASSIFIERS, ids=lambda clf: type(clf).__name__)
def test_pickles_of_different_models_are_rejected(clf):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (60, 3)), rng.integers(0, 2, 60)
    state = copy.deepcopy(clf).fit(X, y).__getstate__()
    larger = copy.deepcopy(clf).fit(rng.integers(0, 9, (60, 3)), y)
    wider = copy.deepcopy(clf).fit(np.hstack([X, X]), y)
    for other in (larger, wider):
        with pytest.raises(ValueError, match="the parts belong to different models"):
            type(clf)().__setstate__({**state, "_encoder": other._encoder})
    with pytest.raises(ValueError, match=r"has 2 classes, but 3 labels"):
        type(clf)().__setstate__({**state, "classes_": np.arange(3)})
    again = type(clf)()
    again.__setstate__(state)
    assert again.predict(X).shape == (60,)
