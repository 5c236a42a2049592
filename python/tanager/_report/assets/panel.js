// The what-if panel, and the start of the page: every change of the evidence updates all parts that depend on it.

Tanager.Panel = class {
  constructor(data, inference, evidence, changed) {
    Object.assign(this, { data, inference, evidence, changed, selects: new Map(), of: -1 });
    this.box = document.getElementById("panel");
    this.box.hidden = false;
    document.getElementById("posterior-name").textContent = data.className;
    this.fields();
    this.classChoice();
    this.posteriorBars = this.bars("posterior", data.classes.length);
    this.contributionBars = this.bars("contributions", data.model.order.length + 2);
    document.getElementById("clear").addEventListener("click", () => {
      this.evidence.fill(-1);
      for (const [, select] of this.selects) select.value = "-1";
      this.changed();
    });
    document.getElementById("contributions-box").hidden = data.classes.length < 2;
  }

  fields() {
    const { element, label } = Tanager;
    const place = document.getElementById("evidence-fields");
    const shown = [...this.data.model.order].sort((a, b) => a - b);
    for (const f of shown) {
      const { name, labels } = this.data.features[f];
      const select = element("select", { id: `feature-${f}`, "data-feature": f });
      select.append(element("option", { value: "-1" }, "unknown"));
      labels.forEach((text, code) => select.append(element("option", { value: code }, text)));
      select.addEventListener("change", () => this.set(f, Number(select.value)));
      this.selects.set(f, select);
      place.append(element("div", { class: "field" }, element("label", { for: select.id }, label(name)), select));
    }
    const find = document.getElementById("find");
    document.getElementById("find-label").hidden = shown.length < 13;
    find.addEventListener("input", () => {
      const wanted = find.value.toLowerCase();
      for (const [f, select] of this.selects)
        select.parentElement.hidden = !this.data.features[f].name.toLowerCase().includes(wanted);
    });
  }

  classChoice() {
    const choice = document.getElementById("contribution-class");
    choice.append(Tanager.element("option", { value: "-1" }, "the most probable class"));
    this.data.classes.forEach((text, c) => choice.append(Tanager.element("option", { value: c }, text)));
    choice.addEventListener("change", () => {
      this.of = Number(choice.value);
      this.show();
    });
  }

  bars(id, n) {
    const { element } = Tanager;
    const place = document.getElementById(id);
    return Array.from({ length: n }, () => {
      const who = element("span", { class: "who" }), amount = element("span", { class: "amount" }), bar = element("i");
      const item = element("li", {}, who, amount, element("span", { class: "track", "aria-hidden": "true" }, bar));
      place.append(item);
      return { item, who, amount, bar };
    });
  }

  set(f, code) {
    this.evidence[f] = code;
    this.changed();
  }

  show() {
    const { data, evidence } = this;
    const found = Tanager.explain(this.inference, data.model.order, evidence);
    const known = evidence.filter((code) => code >= 0).length;
    for (const [f, select] of this.selects) select.parentElement.classList.toggle("known", evidence[f] >= 0);
    this.box.classList.toggle("empty", known === 0);
    document.getElementById("posterior-given").textContent = known ? " | evidence" : "";
    document.getElementById("n-known").textContent = known ? `${known} of ${this.selects.size} known` : "no evidence yet";
    this.showPosterior(found);
    if (data.classes.length > 1) this.showContributions(found);
    const estimate = this.inference.isEstimate(evidence);
    const note = document.getElementById("estimate-note");
    note.hidden = !estimate || !known;
    note.textContent = `Too many values are unknown for an exact sum: this is a Monte Carlo estimate over ${data.model.nTrees} sampled trees, the same as in Python.`;
    document.getElementById("impossible-note").hidden = found.possible;
  }

  showPosterior({ best, posterior }) {
    const order = posterior.map((_, c) => c);
    if (posterior.length > 6) order.sort((a, b) => posterior[b] - posterior[a] || a - b);
    order.forEach((c, place) => {
      const { item, who, amount, bar } = this.posteriorBars[place];
      item.className = c === best ? "best" : "";
      item.dataset.class = c;
      item.dataset.value = posterior[c];
      who.replaceChildren(Tanager.label(this.data.classes[c]));
      amount.textContent = Tanager.percent(posterior[c]);
      bar.style.width = `${100 * posterior[c]}%`;
    });
  }

  showContributions({ best, rivals, base, contributions, logOdds }) {
    const of = this.of < 0 ? best : this.of;
    const { features, classes, className, model } = this.data;
    document.getElementById("rival").textContent = classes[rivals[of]];
    const lines = model.order
      .filter((f) => this.evidence[f] >= 0)
      .map((f) => ({ f, name: features[f].name, what: features[f].labels[this.evidence[f]], value: contributions[f][of] }));
    const size = (x) => (Number.isFinite(x) ? Math.abs(x) : Infinity);
    lines.sort((a, b) => size(b.value) - size(a.value) || a.f - b.f);
    lines.unshift({ f: -1, name: className, what: "prior", value: base[of] });
    const most = Math.max(1e-9, ...lines.map(({ value }) => (Number.isFinite(value) ? Math.abs(value) : 0)));
    lines.push({ f: -2, name: "sum", what: "", value: logOdds[of] });
    this.contributionBars.forEach((parts, place) => {
      parts.item.hidden = place >= lines.length;
      if (place < lines.length) this.showLine(parts, lines[place], most);
    });
  }

  showLine({ item, who, amount, bar }, { f, name, what, value }, most) {
    item.className = `${value < 0 ? "against" : "for"}${f === -2 ? " sum" : ""}`;
    item.dataset.feature = f;
    item.dataset.value = value;
    who.replaceChildren(Tanager.label(name));
    if (what) who.append(Tanager.element("span", { class: "what" }, " ", Tanager.label(what)));
    amount.textContent = Tanager.signed(value);
    const share = Number.isNaN(value) || f === -2 ? 0 : 50 * Math.min(1, Math.abs(value) / most);
    bar.style.left = `${value < 0 ? 50 - share : 50}%`;
    bar.style.width = `${share}%`;
    bar.parentElement.hidden = f === -2;
  }
};

Tanager.percent = (p) => {
  if (p > 0 && p < 0.0005) return p < 1e-300 ? "0%" : `${(100 * p).toExponential(1)}%`;
  return p < 1 && p > 0.9995 ? ">99.9%" : `${(100 * p).toFixed(1)}%`;
};

Tanager.signed = (x) => {
  if (Number.isNaN(x)) return "undefined";
  if (!Number.isFinite(x)) return x > 0 ? "+∞" : "−∞";
  const text = Math.abs(x).toFixed(3);
  return Number(text) === 0 ? text : `${x > 0 ? "+" : "−"}${text}`;
};

Tanager.start = () => {
  const data = JSON.parse(document.getElementById("data").textContent);
  for (const table of data.tables) if (table && table.values !== null) table.values = Tanager.floats(table.values);
  const cards = data.features.map((feature) => feature.nValues);
  const evidence = cards.map(() => -1);
  const tables = new Tanager.NodeTable(data, evidence);
  const showMessage = (id, text) => {
    const place = document.getElementById(id);
    place.textContent = text;
    place.hidden = false;
  };
  let drawing = null, panel = null;
  if (data.drawing.absent) {
    showMessage("drawing-absent", data.drawing.absent);
    document.getElementById("drawing-area").hidden = true;
  } else drawing = new Tanager.Drawing(data.drawing, data, (id) => tables.pick(id));
  // Several changes at once, as by "Clear all", cause one update.
  let waiting = false;
  const changed = () => {
    if (!waiting) queueMicrotask(update);
    waiting = true;
  };
  const update = () => {
    waiting = false;
    panel.show();
    evidence.forEach((code, f) => drawing?.setValue(f, code < 0 ? null : data.features[f].labels[code]));
    tables.show();
  };
  if (data.model.absent) {
    showMessage("panel-absent", `The what-if panel is not available. ${data.model.absent}`);
    return;
  }
  const inference = new Tanager.CachedModel(Tanager.makeModel(data.model, data.tables, cards, data.classes.length));
  panel = new Tanager.Panel(data, inference, evidence, changed);
  panel.show();
};

Tanager.start();
