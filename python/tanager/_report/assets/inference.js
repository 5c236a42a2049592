// Exact inference for the what-if panel. Evidence is an array with a code per feature, -1 if unknown; the result is
// ln P(class, evidence) for every class, as predict_joint_log_proba returns it. All numbers are logarithms, or scaled
// where many sums are needed, so nothing underflows.
"use strict";

const Tanager = {};

// -- numbers

Tanager.bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

// Doubles, either directly or as distinct values and their positions.
Tanager.floats = (packed) => {
  const view = new DataView(Tanager.bytes(typeof packed === "string" ? packed : packed[0]).buffer);
  const found = Float64Array.from({ length: view.byteLength / 8 }, (_, i) => view.getFloat64(8 * i, true));
  if (typeof packed === "string") return found;
  const places = Tanager.bytes(packed[1]);
  if (found.length <= 256) return Float64Array.from(places, (place) => found[place]);
  return Float64Array.from({ length: places.length / 2 }, (_, i) => found[places[2 * i] + 256 * places[2 * i + 1]]);
};

// Integers in seven bits per byte, lowest first; a zero is followed by the number of further zeros.
Tanager.counts = (text) => {
  const bytes = atob(text);
  const found = [];
  let at = 0;
  const next = () => {
    let value = 0, factor = 1, byte;
    do {
      byte = bytes.charCodeAt(at++);
      value += (byte & 127) * factor;
      factor *= 128;
    } while (byte > 127);
    return value;
  };
  while (at < bytes.length) {
    const value = next();
    found.push(value);
    if (value === 0) for (let more = next(); more > 0; --more) found.push(0);
  }
  return Float64Array.from(found);
};

Tanager.logs = (values) => values.map(Math.log);

Tanager.logSum = (values) => {
  const largest = values.reduce((a, b) => Math.max(a, b), -Infinity);
  if (largest === -Infinity) return largest;
  let sum = 0;
  for (const value of values) sum += Math.exp(value - largest);
  return largest + Math.log(sum);
};

// Class probabilities; all equal if the evidence has probability zero, as in predict_proba.
Tanager.posterior = (joint) => {
  const total = Tanager.logSum(joint);
  return joint.map((value) => (total === -Infinity ? 1 / joint.length : Math.exp(value - total)));
};

// -- one network: variable elimination

Tanager.Network = class {
  constructor(model, tables, cards, nClasses) {
    Object.assign(this, { cards, nClasses, elimination: model.elimination });
    this.rank = new Map(model.elimination.map((variable, place) => [variable, place]));
    this.families = [];
    this.parents = new Map();
    tables.forEach((table, child) => {
      if (table === null) return;
      const ofClass = child === cards.length;
      this.parents.set(child, table.parents);
      this.families.push({
        child,
        variables: ofClass ? table.parents : [...table.parents, child],
        classed: ofClass || table.classed,
        logs: Tanager.logs(table.values),
      });
    });
  }

  // Barren variables, with no known variable and no class at or below them, sum to one and are left out.
  relevant(evidence) {
    const above = new Set(), waiting = [this.cards.length, ...this.families.map(({ child }) => child).filter((f) => evidence[f] >= 0)];
    while (waiting.length) {
      const child = waiting.pop();
      if (above.has(child)) continue;
      above.add(child);
      waiting.push(...this.parents.get(child));
    }
    return this.families.filter(({ child }) => above.has(child));
  }

  logJoint(evidence) {
    const sums = new Float64Array(this.nClasses);
    // A factor belongs to the first of its variables that is summed out.
    const waiting = this.elimination.map(() => []);
    const take = (factor) => {
      if (factor.variables.length) waiting[Math.min(...factor.variables.map((v) => this.rank.get(v)))].push(factor);
      else for (let c = 0; c < sums.length; ++c) sums[c] += factor.logs[factor.classed ? c : 0];
    };
    for (const family of this.relevant(evidence)) take(this.restricted(family, evidence));
    this.elimination.forEach((variable, place) => {
      if (waiting[place].length) take(this.summedOut(waiting[place], variable));
    });
    return Array.from(sums);
  }

  strides(factor) {
    const strides = new Map();
    let stride = factor.classed ? this.nClasses : 1;
    for (let i = factor.variables.length - 1; i >= 0; --i) {
      strides.set(factor.variables[i], stride);
      stride *= this.cards[factor.variables[i]];
    }
    return strides;
  }

  // Calls visit(offsets) for every joint value of some variables; offsets[i] is the position in the i-th factor.
  walk(variables, strides, starts, visit) {
    const digits = variables.map(() => 0);
    const offsets = [...starts];
    for (;;) {
      visit(offsets);
      let place = variables.length - 1;
      for (; place >= 0; --place) {
        const variable = variables[place];
        digits[place] += 1;
        const step = digits[place] < this.cards[variable] ? 1 : 1 - this.cards[variable];
        strides.forEach((of, i) => (offsets[i] += step * (of.get(variable) ?? 0)));
        if (step === 1) break;
        digits[place] = 0;
      }
      if (place < 0) return;
    }
  }

  // The part of a family's table that is consistent with the evidence.
  restricted(family, evidence) {
    const strides = this.strides(family);
    const free = family.variables.filter((v) => evidence[v] < 0);
    const lanes = family.classed ? this.nClasses : 1;
    let start = 0;
    for (const v of family.variables) if (evidence[v] >= 0) start += evidence[v] * strides.get(v);
    const size = free.reduce((product, v) => product * this.cards[v], lanes);
    const logs = new Float64Array(size);
    let at = 0;
    this.walk(free, [strides], [start], ([offset]) => {
      for (let c = 0; c < lanes; ++c) logs[at++] = family.logs[offset + c];
    });
    return { variables: free, classed: family.classed, logs };
  }

  // The sum over a variable of the product of all factors that contain it.
  summedOut(factors, variable) {
    const union = new Set(factors.flatMap((factor) => factor.variables));
    union.delete(variable);
    const variables = [...union];
    const classed = factors.some((factor) => factor.classed);
    const lanes = classed ? this.nClasses : 1, values = this.cards[variable];
    const strides = factors.map((factor) => this.strides(factor));
    const steps = strides.map((of) => of.get(variable));
    const out = new Float64Array(variables.reduce((product, v) => product * this.cards[v], lanes));
    const terms = new Float64Array(values);
    let at = 0;
    this.walk(variables, strides, factors.map(() => 0), (offsets) => {
      for (let c = 0; c < lanes; ++c) {
        for (let k = 0; k < values; ++k) {
          let sum = 0;
          for (let f = 0; f < factors.length; ++f)
            sum += factors[f].logs[offsets[f] + k * steps[f] + (factors[f].classed ? c : 0)];
          terms[k] = sum;
        }
        out[at++] = Tanager.logSum(terms);
      }
    });
    return { variables, classed, logs: out };
  }
};

// -- averaged one-dependence estimators

Tanager.Aode = class {
  constructor(model, cards, nClasses) {
    const n = cards.length;
    Object.assign(this, { n, cards, nClasses, eligible: model.eligible });
    this.prior = Tanager.logs(Tanager.floats(model.prior));
    this.singles = model.singles.map((text) => Tanager.logs(Tanager.floats(text)));
    this.pairs = model.pairs.map((text) => (text === null ? null : Tanager.logs(Tanager.floats(text))));
  }

  logJoint(evidence) {
    const known = evidence.flatMap((code, f) => (code >= 0 ? [f] : []));
    const models = [];
    let n = 0;
    for (let p = 0; p < this.n; ++p) {
      if (this.eligible === null) {
        const values = evidence[p] >= 0 ? [evidence[p]] : Array.from({ length: this.cards[p] }, (_, v) => v);
        for (const v of values) models.push(this.superParent(p, v, known, evidence));
        n += 1;
      } else if (evidence[p] >= 0 && this.eligible[p][evidence[p]]) {
        models.push(this.superParent(p, evidence[p], known, evidence));
        n += 1;
      }
    }
    if (n === 0) return this.naive(known, evidence);
    return Array.from(this.prior, (_, c) => Tanager.logSum(models.map((model) => model[c])) - Math.log(n));
  }

  superParent(p, value, known, evidence) {
    const sums = this.naive([p], { [p]: value });
    const s = this.nClasses;
    for (const i of known) {
      if (i === p) continue;
      const start = (value * this.cards[i] + evidence[i]) * s;
      const logs = this.pairs[p * this.n + i];
      for (let c = 0; c < s; ++c) sums[c] += logs[start + c];
    }
    return sums;
  }

  naive(known, evidence) {
    const sums = Array.from(this.prior);
    for (const f of known)
      for (let c = 0; c < sums.length; ++c) sums[c] += this.singles[f][evidence[f] * this.nClasses + c];
    return sums;
  }
};
