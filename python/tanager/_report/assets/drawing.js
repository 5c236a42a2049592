// The interactive network plot: nodes are selected by pointer or keyboard, line widths show strengths.

Tanager.element = (tag, attributes = {}, ...children) => {
  const found = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
  found.append(...children);
  return found;
};

Tanager.shape = (tag, attributes = {}, ...children) => {
  const found = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
  found.append(...children);
  return found;
};

// A label, isolated from the writing direction of the text around it.
Tanager.label = (text) => Tanager.element("bdi", {}, text);

// The visible part of the plot, with the aspect ratio of the frame.
Tanager.View = class {
  constructor(svg, width, height) {
    Object.assign(this, { svg, width, height });
    this.onPaper = false;
    this.picked = null;
    // Until the user moves it, the plot follows the size of its frame.
    new ResizeObserver(() => this.again()).observe(svg);
    this.fit();
  }

  frame() {
    const { clientWidth, clientHeight } = this.svg;
    return [clientWidth || 800, clientHeight || 500];
  }

  get fitting() {
    const [wide, high] = this.frame();
    return Math.min(wide / this.width, high / this.height, 1.25);
  }

  // Shows the complete network.
  fit() {
    this.again = () => this.fit();
    this.scale = this.fitting;
    const [wide, high] = this.frame();
    this.x = this.width / 2 - wide / this.scale / 2;
    this.y = this.height / 2 - high / this.scale / 2;
    this.show();
  }

  show() {
    const [wide, high] = this.frame();
    const w = wide / this.scale, h = high / this.scale;
    // A part of the plot always stays visible.
    this.x = Math.min(Math.max(this.x, -0.8 * w), this.width - 0.2 * w);
    this.y = Math.min(Math.max(this.y, -0.8 * h), this.height - 0.2 * h);
    const seen = this.onPaper ? [0, 0, this.width, this.height] : [this.x, this.y, w, h];
    this.svg.setAttribute("viewBox", seen.map((v) => v.toFixed(2)).join(" "));
  }

  // Zooms by a factor around a point of the frame.
  zoom(factor, px = this.frame()[0] / 2, py = this.frame()[1] / 2) {
    const before = this.scale;
    this.scale = Math.min(Math.max(before * factor, Math.min(this.fitting, 0.72) / 2), 4);
    this.x += px / before - px / this.scale;
    this.y += py / before - py / this.scale;
    this.again = () => this.keep();
    this.show();
  }

  pan(dx, dy) {
    this.x += dx / this.scale;
    this.y += dy / this.scale;
    this.again = () => this.keep();
    this.show();
  }

  // Keeps the position, but reveals the selected node: its table takes room from the plot.
  keep() {
    this.show();
    if (this.picked) this.reveal(this.picked.x, this.picked.y, this.picked.width / 2 + 10);
  }

  // Pans to make a point visible.
  reveal(x, y, margin) {
    const [wide, high] = this.frame();
    const right = this.x + wide / this.scale - margin, bottom = this.y + high / this.scale - margin;
    this.x += Math.min(0, x - this.x - margin) + Math.max(0, x - right);
    this.y += Math.min(0, y - this.y - margin) + Math.max(0, y - bottom);
    this.show();
  }
};

Tanager.Drawing = class {
  constructor(drawing, data, pick) {
    Object.assign(this, { drawing, data, pick, nodes: new Map(), arcs: [] });
    this.svg = Tanager.shape("svg", { role: "group", "aria-label": "Network", tabindex: "0" });
    this.svg.append(this.markers());
    for (const kind of ["class", "other", "arc"])
      for (const arc of drawing.arcs) if (arc.kind === kind) this.svg.append(this.line(arc));
    drawing.nodes.forEach((node, i) => this.svg.append(this.node(node, i === 0)));
    document.getElementById("drawing").append(this.svg);
    document.getElementById("drawing-note").textContent = drawing.note || this.legend();
    this.view = new Tanager.View(this.svg, drawing.width, drawing.height);
    this.toggles();
    this.pointers();
    this.keys();
    this.printing();
  }

  name(id) {
    return id === this.data.features.length ? this.data.className : this.data.features[id].name;
  }

  legend() {
    const strengths = this.drawing.arcs.some((arc) => arc.value !== undefined && arc.value !== null);
    return strengths ? "Arc width: mutual information of parent and child given the other parents, under the model." : "";
  }

  markers() {
    const size = { viewBox: "0 0 8 8", refX: 0.5, refY: 4, markerWidth: 10, markerHeight: 11, markerUnits: "userSpaceOnUse" };
    const tip = Tanager.shape("path", { d: "M0 0L8 4L0 8Z", class: "arrow" });
    return Tanager.shape("defs", {}, Tanager.shape("marker", { id: "arrow", ...size, orient: "auto" }, tip));
  }

  line(arc) {
    const path = Tanager.shape("path", { class: `arc ${arc.kind}`, d: arc.path, "stroke-width": arc.width });
    if (arc.kind === "class" || this.drawing.arrows) path.setAttribute("marker-end", "url(#arrow)");
    if (arc.what) {
      const value = arc.value === null ? "not computed" : `${arc.value.toPrecision(3)} ${arc.unit}`.trim();
      const between = this.drawing.arrows ? "→" : "–";
      path.append(Tanager.shape("title", {}, `${this.name(arc.from)} ${between} ${this.name(arc.to)}: ${arc.what} ${value}`));
    }
    this.arcs.push({ path, arc });
    return path;
  }

  node(node, first) {
    const isClass = node.isClass;
    const { x, y, width, height } = node;
    const value = Tanager.shape("text", { class: "value", x, y: y + 15 });
    const group = Tanager.shape(
      "g",
      { class: isClass ? "node class" : "node", role: "button", tabindex: first ? "0" : "-1", "data-node": node.id, "aria-pressed": "false" },
      Tanager.shape("title", {}, this.name(node.id)),
      Tanager.shape("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: isClass ? height / 2 : 8 }),
      Tanager.shape("text", { x, y: y - 2 }, node.text),
      value,
    );
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.choose(node.id);
    });
    this.nodes.set(node.id, { group, value, node });
    this.setValue(node.id, null);
    return group;
  }

  // Shows the known value of a feature, or its number of values.
  setValue(id, label) {
    const found = this.nodes.get(id);
    if (!found) return;
    const { features, classes } = this.data;
    const n = id === features.length ? classes.length : features[id].nValues;
    const what = id === features.length ? (n === 1 ? "class" : "classes") : n === 1 ? "value" : "values";
    const most = Math.max(7, Math.floor(found.node.width / 8.2));
    const text = label === null ? `${n} ${what}` : label;
    found.value.textContent = text.length > most ? `${text.slice(0, most - 1)}…` : text;
    found.group.classList.toggle("known", label !== null);
    found.group.setAttribute("aria-label", `${this.name(id)}, ${label === null ? `${n} ${what}` : `known: ${label}`}`);
  }

  choose(id) {
    for (const [other, { group }] of this.nodes) {
      group.classList.toggle("picked", other === id);
      group.setAttribute("aria-pressed", String(other === id));
      group.setAttribute("tabindex", other === id ? "0" : "-1");
    }
    for (const { path, arc } of this.arcs) path.classList.toggle("near", arc.from === id || arc.to === id);
    this.view.picked = this.nodes.get(id).node;
    document.getElementById("drawing-area").classList.add("picked");
    this.pick(id);
  }

  toggles() {
    const box = document.getElementById("class-arcs");
    if (!this.drawing.arcs.some((arc) => arc.kind === "class")) document.getElementById("class-arcs-label").hidden = true;
    box.checked = false; // some browsers keep the state across reloads
    const show = () => this.svg.classList.toggle("hide-class", !box.checked);
    box.addEventListener("change", show);
    show();
    const on = (id, act) => document.getElementById(id).addEventListener("click", act);
    on("zoom-in", () => this.view.zoom(1.3));
    on("zoom-out", () => this.view.zoom(1 / 1.3));
    on("zoom-fit", () => this.view.fit());
  }

  // Dragging, pinching and the wheel. A press without movement selects the node under it.
  pointers() {
    const held = new Map();
    let travelled = 0;
    const place = (event) => {
      const box = this.svg.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    this.svg.addEventListener("pointerdown", (event) => {
      held.set(event.pointerId, place(event));
      if (held.size === 1) travelled = 0;
    });
    this.svg.addEventListener("pointermove", (event) => {
      const before = held.get(event.pointerId);
      if (!before) return;
      const now = place(event);
      const others = [...held].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      travelled += Math.hypot(now[0] - before[0], now[1] - before[1]);
      if (travelled < 5) return;
      if (!this.svg.hasPointerCapture(event.pointerId)) this.svg.setPointerCapture(event.pointerId);
      this.svg.classList.add("dragging");
      held.set(event.pointerId, now);
      const share = held.size;
      this.view.pan((before[0] - now[0]) / share, (before[1] - now[1]) / share);
      if (others.length === 1) {
        const [other] = others;
        const apart = (p) => Math.max(10, Math.hypot(p[0] - other[0], p[1] - other[1]));
        this.view.zoom(apart(now) / apart(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
      }
    });
    const release = (event) => {
      held.delete(event.pointerId);
      if (!held.size) this.svg.classList.remove("dragging");
    };
    this.svg.addEventListener("pointerup", release);
    this.svg.addEventListener("pointercancel", release);
    this.svg.addEventListener("click", (event) => {
      const group = event.target.closest?.("[data-node]");
      // Ignores the click that ends a drag; clicks without a pointer, as of screen readers, have detail 0.
      if (group && (travelled < 5 || event.detail === 0)) this.choose(Number(group.dataset.node));
    });
    this.svg.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey && !this.svg.contains(document.activeElement)) return;
        event.preventDefault();
        this.view.zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0018)), ...place(event));
      },
      { passive: false },
    );
  }

  keys() {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    this.svg.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const way = ways[event.key];
      const group = event.target.closest?.("[data-node]");
      if (way && group) this.step(Number(group.dataset.node), way);
      else if (way) this.view.pan(60 * way[0], 60 * way[1]);
      else if (event.key === "+" || event.key === "=") this.view.zoom(1.3);
      else if (event.key === "-") this.view.zoom(1 / 1.3);
      else if (event.key === "0") this.view.fit();
      else return;
      event.preventDefault();
    });
  }

  // Moves the focus to the nearest node in a direction.
  step(id, [dx, dy]) {
    const from = this.nodes.get(id).node;
    let best = null, least = Infinity;
    for (const { node } of this.nodes.values()) {
      const along = (node.x - from.x) * dx + (node.y - from.y) * dy;
      const aside = Math.abs((node.x - from.x) * dy) + Math.abs((node.y - from.y) * dx);
      if (along > 1 && along + 2 * aside < least) [best, least] = [node, along + 2 * aside];
    }
    if (!best) return;
    this.nodes.get(id).group.setAttribute("tabindex", "-1");
    const { group } = this.nodes.get(best.id);
    group.setAttribute("tabindex", "0");
    group.focus({ preventScroll: true });
    this.view.reveal(best.x, best.y, best.width / 2 + 10);
  }

  // Prints the complete network.
  printing() {
    const turn = (onPaper) => {
      this.view.onPaper = onPaper;
      this.view.show();
    };
    window.addEventListener("beforeprint", () => turn(true));
    window.addEventListener("afterprint", () => turn(false));
    matchMedia("print").addEventListener("change", (event) => turn(event.matches));
  }
};
