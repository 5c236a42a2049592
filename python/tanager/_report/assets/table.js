// The conditional probability table of the selected node: P(node | parents), a row per configuration of the parents.

Tanager.MAX_COLUMNS = 60; // until the user clicks "Show all"

Tanager.NodeTable = class {
  constructor(data, evidence) {
    Object.assign(this, { data, evidence, picked: null, all: false });
    this.place = document.getElementById("node-details");
  }

  get nFeatures() {
    return this.data.features.length;
  }

  name(id) {
    return id === this.nFeatures ? this.data.className : this.data.features[id].name;
  }

  labels(id) {
    return id === this.nFeatures ? this.data.classes : this.data.features[id].labels;
  }

  pick(id) {
    Object.assign(this, { picked: id, all: false });
    this.show();
  }

  show() {
    if (this.picked === null) return;
    const id = this.picked, table = this.data.tables[id];
    const given = [...table.parents, ...(table.classed ? [this.nFeatures] : [])];
    const { element, label } = Tanager;
    const heading = element("h3", { id: "table-heading" }, "P(", label(this.name(id)));
    given.forEach((parent, i) => heading.append(i ? ", " : " | ", label(this.name(parent))));
    heading.append(")");
    const children = this.data.tables.flatMap((t, child) => (t && t.parents.includes(id) ? [child] : []));
    const parts = [heading];
    if (this.data.tableNote && id !== this.nFeatures) parts.push(element("p", { class: "note" }, this.data.tableNote));
    if (children.length) {
      const line = element("p", { class: "relatives" }, "Parent of ");
      children.forEach((child, i) => line.append(i ? ", " : "", label(this.name(child))));
      parts.push(line);
    }
    if (table.values === null) parts.push(element("p", { class: "absent" }, "This table is too large for the report."));
    else parts.push(...this.rows(id, table, given));
    this.place.replaceChildren(...parts);
  }

  rows(id, table, given) {
    const { element, label } = Tanager;
    const own = this.labels(id).length, lanes = table.classed ? this.data.classes.length : 1;
    const sizes = given.map((parent) => this.labels(parent).length);
    const n = sizes.reduce((a, b) => a * b, 1);
    const head = element("tr");
    for (const parent of given) head.append(element("th", { scope: "col" }, label(this.name(parent))));
    const wide = this.all ? own : Math.min(own, Tanager.MAX_COLUMNS);
    for (const text of this.labels(id).slice(0, wide)) head.append(element("th", { scope: "col", class: "n" }, label(text)));
    const body = element("tbody");
    const most = this.all ? n : Math.min(n, Math.max(12, Math.floor(400 / wide)));
    for (let row = 0; row < most; ++row) {
      const digits = this.digits(row, sizes);
      const agrees = given.every((parent, i) => parent === this.nFeatures || this.evidence[parent] === digits[i]);
      const known = given.some((parent) => parent !== this.nFeatures);
      const line = element("tr", agrees && known ? { class: "agrees" } : {});
      given.forEach((parent, i) => line.append(element("td", {}, label(this.labels(parent)[digits[i]]))));
      // The class is the innermost axis of the values, and the last parent here.
      const config = Math.floor(row / lanes), c = row % lanes;
      for (let k = 0; k < wide; ++k) {
        const p = table.values[(config * own + k) * lanes + c];
        const cell = element("td", { class: "n p", "data-value": p }, p.toPrecision(3).replace(/^1\.00$/, "1"));
        cell.style.setProperty("--p", `${(100 * p).toFixed(1)}%`);
        line.append(cell);
      }
      body.append(line);
    }
    const found = [element("div", { class: "scroll", tabindex: "0" }, element("table", { "aria-labelledby": "table-heading" }, element("thead", {}, head), body))];
    if (most < n || wide < own) {
      const all = wide < own ? `${own.toLocaleString("en")} values` : `${n.toLocaleString("en")} rows`;
      const more = element("button", { type: "button" }, `Show all ${all}`);
      more.addEventListener("click", () => {
        this.all = true;
        this.show();
      });
      found.push(more);
    }
    return found;
  }

  digits(row, sizes) {
    const found = [];
    for (let i = sizes.length - 1; i >= 0; --i) {
      found.unshift(row % sizes[i]);
      row = Math.floor(row / sizes[i]);
    }
    return found;
  }
};
