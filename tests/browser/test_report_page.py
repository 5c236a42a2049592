"""Reports in a browser: what they show and compute, by mouse and by keyboard, on wide and narrow screens."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from report_browser import Page, chromium

import tanager as tg

pytestmark = pytest.mark.browser

N_FEATURES, N_EVIDENCES = 16, 50


@pytest.fixture(scope="module")
def driver():
    with chromium() as found:
        yield found


def test_a_missing_browser_is_a_failure_only_where_it_is_required(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setenv("TANAGER_REQUIRE_BROWSER", "1")
    with pytest.raises(pytest.fail.Exception, match="no Chromium"), chromium():
        pass
    monkeypatch.delenv("TANAGER_REQUIRE_BROWSER")
    with pytest.raises(pytest.skip.Exception, match="no Chromium"), chromium():
        pass


def survey(n_rows=600, seed=3):
    """Sixteen questions with two to four answers, some missing, some numbers; each depends on the class and another."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, n_rows)
    columns = {}
    for i in range(N_FEATURES):
        r = 2 + i % 3
        shift = y if i < 3 else np.asarray(columns[f"question {i - 3}"][1])
        code = np.where(random.uniform(size=n_rows) < 0.55, (shift + i) % r, random.integers(0, r, n_rows))
        gone = random.uniform(size=n_rows) < 0.04
        values = (
            code + random.normal(0, 0.1, n_rows)
            if i == 5
            else np.array(["no", "yes", "perhaps", "never"], object)[code]
        )
        columns[f"question {i}"] = (np.where(gone, None if values.dtype == object else np.nan, values), code)
    X = pd.DataFrame({name: values for name, (values, _) in columns.items()})
    return X, pd.Series(np.array(["low", "middle", "high"])[y], name="risk")


def general_structure():
    names = [f"question {i}" for i in range(N_FEATURES)]
    arcs = [(names[0], "risk"), (names[1], "risk"), ("risk", names[2]), ("risk", names[3]), (names[4], names[3])]
    arcs += [(names[i - 1], names[i]) for i in range(5, 12)] + [(names[2], names[7]), (names[3], names[9])]
    return tg.structure.FixedStructure([*arcs, ("risk", names[12])], leave_out=[names[15]], class_arcs="listed")


CLASSIFIERS = {
    "TAN": tg.TANClassifier,
    "KDB": lambda: tg.KDBClassifier(k=2, parameters="maximum-likelihood"),
    "general": lambda: tg.BayesNetClassifier(general_structure()),
    "AODE": tg.AODEClassifier,
    "AODE with a minimum": lambda: tg.AODEClassifier(min_count=150),
    "TBMATAN": lambda: tg.TBMATANClassifier(max_assignments=300, n_trees=50),
    "TBMATAN, exact": lambda: tg.TBMATANClassifier(max_assignments=3000),
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    X, y = survey()
    folder, made = tmp_path_factory.mktemp("reports"), {}

    def make(name):
        if name not in made:
            clf = CLASSIFIERS[name]().fit(X, y)
            path = folder / f"{len(made)}.html"
            clf.report(path, X, y)
            made[name] = clf, path
        return made[name]

    return make


def random_evidence(clf, random, n_known):
    codes = np.full(N_FEATURES, -1)
    for f in random.choice(N_FEATURES, n_known, replace=False):
        codes[f] = random.integers(clf._encoder.columns[f].cardinality)
    return codes.tolist()


def row_of(clf, codes):
    """The row of a table that has this evidence."""
    cells = {}
    for f, (code, column) in enumerate(zip(codes, clf._encoder.columns, strict=True)):
        if column.kind == "interval":
            inside = [*column.cuts.tolist(), column.cuts[-1] + 1.0]  # the upper end belongs to an interval
            value = np.nan if code < 0 else inside[code]
        else:
            value = None if code < 0 else column.labels()[code]
        cells[f"question {f}"] = pd.Series([value], dtype=float if column.kind == "interval" else object)
    return pd.DataFrame(cells)


@pytest.mark.filterwarnings("ignore::tanager.EstimateWarning")
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_what_is_shown_is_what_the_library_predicts(driver, reports, name):
    clf, path = reports(name)
    assert path.stat().st_size < 1_000_000
    page = Page(driver, path)
    random = np.random.default_rng(1)
    least = 12 if "exact" in name else 0
    deviation = of_contributions = 0.0
    for i in range(N_EVIDENCES):
        n_known = least + i % (N_FEATURES + 1 - least)
        codes = random_evidence(clf, random, n_known)
        row = row_of(clf, codes)
        page.set_evidence(codes)
        expected = clf.predict_proba(row)[0]
        deviation = max(deviation, float(np.abs(page.posterior(len(expected)) - expected).max()))
        if i % 5:
            continue
        explained = clf.explain(row)
        shown, of = page.contributions(), int(explained.class_codes()[0])
        in_model = [f for f, feature in enumerate(clf._schema.feature_names) if feature in explained.order]
        assert sorted(shown) == [-2, -1, *(f for f in in_model if codes[f] >= 0)]
        expected_of = {f: explained.contributions[0, f, of] for f in shown if f >= 0}
        expected_of |= {-1: explained.base[0, of], -2: explained.log_odds[0, of]}
        gaps = [
            0.0 if x == shown[f] or np.isnan([x, shown[f]]).all() else abs(x - shown[f]) for f, x in expected_of.items()
        ]
        of_contributions = max(of_contributions, *gaps)
    assert deviation < 1e-9
    assert of_contributions < 1e-9
    page.find("#clear").click()
    nothing = clf.predict_proba(row_of(clf, [-1] * N_FEATURES))[0]
    np.testing.assert_allclose(page.posterior(len(nothing)), nothing, atol=1e-9)
    assert page.errors() == []
    print(f"{name}: {deviation:.1e} and {of_contributions:.1e} apart, {path.stat().st_size:,} bytes")


def test_nodes_are_picked_by_mouse_and_by_keyboard(driver, reports):
    from selenium.webdriver import ActionChains, Keys

    clf, path = reports("TAN")
    page = Page(driver, path)
    assert len(driver.find_elements("css selector", "#drawing [data-node]")) == N_FEATURES + 1
    assert len(driver.find_elements("css selector", "#drawing path.arc:not(.class)")) == N_FEATURES - 1
    page.run("document.getElementById('drawing').scrollIntoView({block: 'center'})")
    page.find("#zoom-fit").click()
    ActionChains(driver).move_to_element(page.find("[data-node='7']")).click().perform()
    assert page.find("#table-heading").text.startswith("P(question 7 | ")
    shown = page.run("return [...document.querySelectorAll('#node-details td.p')].map((e) => e.dataset.value)")
    cpt = clf.network_.cpt("question 7")  # its own axis is the last but one
    np.testing.assert_array_equal([float(p) for p in shown], np.swapaxes(cpt.values, -1, -2).reshape(-1))
    assert page.find("[data-node='7']").get_attribute("aria-pressed") == "true"

    page.find("[data-node='7']").send_keys(Keys.ARROW_UP)
    above = driver.switch_to.active_element
    assert above.get_attribute("data-node") not in (None, "7")
    above.send_keys(Keys.ENTER)
    name = above.get_attribute("aria-label").split(",")[0]
    assert page.find("#table-heading").text.startswith(f"P({name}")
    above.send_keys("0")
    before = page.find("#drawing svg").get_dom_attribute("viewBox")
    above.send_keys("+")
    assert page.find("#drawing svg").get_dom_attribute("viewBox") != before
    above.send_keys("0")
    assert page.find("#drawing svg").get_dom_attribute("viewBox") == before
    assert page.errors() == []


def test_the_drawing_can_be_moved_and_shows_evidence(driver, reports):
    from selenium.webdriver import ActionChains

    _, path = reports("TAN")
    page = Page(driver, path)
    view = page.find("#drawing svg")
    page.run("arguments[0].scrollIntoView({block: 'center'})", view)
    x, y, width, _ = map(float, view.get_dom_attribute("viewBox").split())
    ActionChains(driver).move_to_element_with_offset(view, -300, 100).click_and_hold().move_by_offset(
        60, 30
    ).release().perform()
    moved = [float(v) for v in view.get_dom_attribute("viewBox").split()]
    assert moved[0] < x
    assert moved[1] < y
    assert moved[2] == pytest.approx(width, abs=0.1)
    page.find("#zoom-in").click()
    assert float(view.get_dom_attribute("viewBox").split()[2]) == pytest.approx(width / 1.3, abs=0.1)
    arcs = driver.find_elements("css selector", "#drawing path.arc.class")
    assert (len(arcs), arcs[0].is_displayed()) == (N_FEATURES, False)
    page.find("#class-arcs").click()
    assert arcs[0].is_displayed()
    page.set_evidence([1])
    assert "known" in page.find("[data-node='0']").get_attribute("class").split()
    page.set_evidence([-1])
    assert "known" not in page.find("[data-node='0']").get_attribute("class").split()
    assert page.errors() == []


#: How far nodes stick out of the frame of the drawing, in pixels.
OUTSIDE = """
const frame = document.querySelector("#drawing svg").getBoundingClientRect();
const out = (selector) => Math.max(...[...document.querySelectorAll(selector)].map((node) => {
  const box = node.getBoundingClientRect();
  return Math.max(frame.left - box.left, box.right - frame.right, frame.top - box.top, box.bottom - frame.bottom);
}));
return out(arguments[0]);
"""


def resize(driver, width, height):
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(() => arguments[0]()))")


@pytest.mark.parametrize("n_features", [30, 100])
def test_the_network_fits_its_frame(driver, tmp_path, n_features):
    random = np.random.default_rng(0)
    columns = [random.integers(0, 3, 300)]
    for _ in range(n_features - 1):  # long branches, which no frame of a desktop holds at full size
        before = columns[max(0, len(columns) - 3)]
        columns.append(np.where(random.random(300) < 0.8, before, random.integers(0, 3, 300)))
    X = pd.DataFrame({f"question {i}": column for i, column in enumerate(columns)})
    tg.TANClassifier().fit(X, random.integers(0, 2, 300)).report(tmp_path / "r.html")
    nodes, picked = "#drawing [data-node] rect", "#drawing [data-node].picked rect"
    try:
        page = Page(driver, tmp_path / "r.html")
        assert page.run(OUTSIDE, nodes) <= 1
        for size in ((1280, 900), (390, 844), (1600, 500)):
            resize(driver, *size)
            assert page.run(OUTSIDE, nodes) <= 1
        resize(driver, 1280, 900)
        for node in (0, n_features - 1):  # tables take room from the frame
            page.run(
                "document.querySelector(`[data-node='${arguments[0]}']`).dispatchEvent(new MouseEvent('click', {bubbles: true}))",
                node,
            )
            resize(driver, 1280, 900)
            assert page.run(OUTSIDE, nodes) <= 1
        page = Page(driver, tmp_path / "r.html")
        # Somebody looks closely at a node on the right, and then picks it.
        page.run("document.getElementById('zoom-in').click()")
        page.run("document.querySelector(\"[data-node='3']\").focus()")
        page.run(
            """
            const node = document.querySelector("[data-node='3']");
            const frame = document.querySelector("#drawing svg").getBoundingClientRect();
            for (let i = 0; i < 400 && node.getBoundingClientRect().right < frame.right - 30; i++)
              document.querySelector("#drawing svg").dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowLeft"}));
            node.dispatchEvent(new MouseEvent("click", {bubbles: true}));
            """
        )
        resize(driver, 1280, 900)
        assert page.run(OUTSIDE, picked) <= 1
        assert page.errors() == []
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_evidence_is_set_and_cleared_by_keyboard(driver, reports):
    from selenium.webdriver import Keys

    clf, path = reports("TAN")
    page = Page(driver, path)
    select = page.find("#feature-2")
    select.send_keys(clf._encoder.columns[2].labels()[1])
    expected = clf.predict_proba(row_of(clf, [-1, -1, 1, *[-1] * 13]))[0]
    np.testing.assert_allclose(page.posterior(3), expected, atol=1e-12)
    select.send_keys(Keys.HOME)
    expected = clf.predict_proba(row_of(clf, [-1] * N_FEATURES))[0]
    np.testing.assert_allclose(page.posterior(3), expected, atol=1e-12)
    assert page.errors() == []


def test_fields_are_found_by_name(driver, reports):
    page = Page(driver, reports("TAN")[1])
    page.find("#find").send_keys("ION 1")
    shown = [e.get_attribute("id") for e in driver.find_elements("css selector", ".field select") if e.is_displayed()]
    assert shown == ["feature-1", *(f"feature-{i}" for i in range(10, 16))]
    assert page.errors() == []


def test_impossible_evidence(driver, tmp_path):
    clf = tg.TANClassifier(parameters="maximum-likelihood").fit([["a", "c"], ["b", "d"]], ["x", "y"])
    clf.report(tmp_path / "r.html")
    page = Page(driver, tmp_path / "r.html")
    page.set_evidence([0, 1])
    assert page.posterior(2) == clf.predict_proba([["a", "d"]])[0].tolist() == [0.5, 0.5]
    assert page.find("#impossible-note").is_displayed()
    page.set_evidence([0, 0])
    assert page.posterior(2) == [1.0, 0.0]
    assert not page.find("#impossible-note").is_displayed()
    assert page.errors() == []


def test_one_class_is_never_impossible(driver, tmp_path):
    tg.TANClassifier().fit([["a", "c"], ["b", "d"]], ["only", "only"]).report(tmp_path / "r.html")
    page = Page(driver, tmp_path / "r.html")
    page.set_evidence([0, 1])
    assert page.posterior(1) == [1.0]
    assert not page.find("#impossible-note").is_displayed()
    assert not page.find("#contributions-box").is_displayed()
    assert page.errors() == []


def test_long_tables_are_shown_whole_only_when_asked(driver, tmp_path):
    values = [f"value {i}" for i in range(2000)]
    tg.NaiveBayesClassifier().fit([[value] for value in values], ["a", "b"] * 1000).report(tmp_path / "r.html")
    page = Page(driver, tmp_path / "r.html")
    page.run("document.querySelector(\"[data-node='0']\").dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    n_cells = "return document.querySelectorAll('#node-details td.p').length"
    assert page.run(n_cells) < 500
    button = page.find("#node-details button")
    assert button.text == "Show all 2,000 values"
    button.click()
    assert page.run(n_cells) == 4000
    assert page.errors() == []


HOSTILE = [
    *(
        "</script><script>document.title='taken'</script>",
        "<img src=x onerror=\"document.title='taken'\">",
        "\"'`",
        "a & b &amp;",
    ),
    *("right \u202eot tfel", "two\nlines \u2028 more", "__proto__", "constructor", "{{script}}", "x" * 300, "שלום"),
]


@pytest.mark.parametrize("make", [tg.TANClassifier, tg.AODEClassifier, tg.TBMATANClassifier])
def test_hostile_labels_run_nothing(driver, tmp_path, make):
    random = np.random.default_rng(0)
    X = pd.DataFrame({name.replace("\n", " "): random.choice(np.array(HOSTILE, dtype=object), 80) for name in HOSTILE})
    y = pd.Series(random.choice(np.array(HOSTILE, dtype=object), 80), name="<b onclick=alert(1)>\u202e")
    clf = make().fit(X, y)
    clf.report(tmp_path / "r.html", X, y)
    page = Page(driver, tmp_path / "r.html")
    page.set_evidence([1] * 4)
    for node in range(len(HOSTILE) + 1):
        page.run(
            "document.querySelector(`[data-node='${arguments[0]}']`).dispatchEvent(new MouseEvent('click', {bubbles: true}))",
            node,
        )
    assert driver.title.endswith(": model report")
    assert page.run("return document.scripts.length") == 2
    assert page.run("return document.querySelectorAll('img, b, [onclick], [onerror]').length") == 0
    texts = page.run("return [...document.querySelectorAll('#feature-0 option')].map((e) => e.textContent)")
    assert {"unknown", HOSTILE[0], HOSTILE[1], HOSTILE[2], "__proto__", "שלום"} < set(texts)
    assert page.errors() == []


def pinch(driver, x, y):
    """Move two fingers apart to twice their distance."""
    for kind, apart in (
        ("touchStart", 40),
        ("touchMove", 46),
        ("touchMove", 60),
        ("touchMove", 80),
        ("touchEnd", None),
    ):
        points = [] if apart is None else [{"x": x - apart, "y": y, "id": 0}, {"x": x + apart, "y": y, "id": 1}]
        driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["TAN", "TBMATAN"])
def test_nothing_sticks_out_on_a_phone(driver, reports, name, scheme):
    metrics = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    try:
        page = Page(driver, reports(name)[1])
        page.set_evidence([0, 1, 0])
        view = page.find("#drawing svg")
        page.run("arguments[0].scrollIntoView({block: 'center'})", view)
        before = float(view.get_dom_attribute("viewBox").split()[2])
        pinch(driver, view.rect["width"] / 2 + 16, 422)
        assert float(view.get_dom_attribute("viewBox").split()[2]) == pytest.approx(before / 2, rel=0.1)
        page.run("document.querySelector(\"[data-node='5']\").dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        assert page.run("return document.documentElement.scrollWidth") == 390
        assert page.run("return document.getElementById('table-heading').getBoundingClientRect().right") <= 390
        dark = page.run("return getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 29)"
        assert dark == (scheme == "dark")
        assert page.errors() == []
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_paper_shows_the_whole_network_and_what_is_known(driver, reports):
    _, path = reports("TAN")
    page = Page(driver, path)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert not page.find("#panel").is_displayed()
        page.set_evidence([1, 0])
        assert page.find("#posterior").is_displayed()
        assert page.find("#feature-0").is_displayed()
        assert not page.find("#feature-5").is_displayed()
        view = [float(v) for v in page.find("#drawing svg").get_dom_attribute("viewBox").split()]
        assert view[:2] == [0, 0]
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert len(driver.execute_cdp_cmd("Page.printToPDF", {})["data"]) > 10_000
    assert page.errors() == []
