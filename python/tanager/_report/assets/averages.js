// The average over all trees. For a row without missing values it is a ratio of two sums over spanning trees, each computed
// by elimination without subtraction. Missing values are summed out or, if there are too many combinations, estimated with
// the same sampled trees as in the library.

Tanager.Tbmatan = class {
  constructor(model, cards, nClasses) {
    const n = cards.length;
    Object.assign(this, { n, cards, nClasses, size: model.size, mostAssignments: model.mostAssignments, trees: model.trees });
    this.prior = Tanager.floats(model.prior);
    this.singles = model.singles.map(model.whole ? Tanager.counts : Tanager.floats);
    this.pairs = model.pairs.map(model.whole ? Tanager.counts : Tanager.floats);
    this.weights = Tanager.floats(model.weights);
    this.roots = this.singles.map((counts, f) => this.smoothed(counts, cards[f]));
    this.naive = this.roots.map(Tanager.logs);
    this.lifts = this.pairs.map((_, at) => this.liftsOf(at));
    this.arcTables = new Map();
    this.scale(model.exponents);
    this.work = new Float64Array(n * n);
    for (let u = 0, at = 0; u < n; ++u) for (let v = u + 1; v < n; ++v) this.work[u * n + v] = this.weights[at++];
    this.logAllTrees = this.logTreeSum();
  }

  pair(u, v) {
    return u < v ? (u * (2 * this.n - u - 1)) / 2 + v - u - 1 : this.pair(v, u);
  }

  // Posterior means of the distributions along the second to last axis; the class is the last axis.
  smoothed(counts, values) {
    const s = this.nClasses, share = this.size / counts.length;
    const out = new Float64Array(counts.length);
    for (let start = 0; start < counts.length; start += values * s)
      for (let c = 0; c < s; ++c) {
        let sum = values * share;
        for (let k = 0; k < values; ++k) sum += counts[start + k * s + c];
        for (let k = 0; k < values; ++k) out[start + k * s + c] = (counts[start + k * s + c] + share) / sum;
      }
    return out;
  }

  // Ratio of the joint probability of two values given a class to the product of their probabilities given the class.
  liftsOf(at) {
    const [u, v] = this.endsOf(at), s = this.nClasses, nu = this.cards[u], nv = this.cards[v];
    const counts = this.pairs[at];
    const ofU = new Float64Array(nu * s), ofV = new Float64Array(nv * s), ofClass = new Float64Array(s);
    const each = (visit) => {
      let cell = 0;
      for (let i = 0; i < nu; ++i) for (let j = 0; j < nv; ++j) for (let c = 0; c < s; ++c) visit(i, j, c, cell++);
    };
    each((i, j, c, cell) => {
      ofU[i * s + c] += counts[cell];
      ofV[j * s + c] += counts[cell];
      ofClass[c] += counts[cell];
    });
    const share = this.size / s, shareU = share / nu, shareV = share / nv, shareCell = shareU / nv;
    const out = new Float64Array(counts.length);
    each((i, j, c, cell) => {
      const first = (counts[cell] + shareCell) / (ofU[i * s + c] + shareU);
      out[cell] = first * ((ofClass[c] + share) / (ofV[j * s + c] + shareV));
    });
    return out;
  }

  endsOf(at) {
    for (let u = 0; u + 1 < this.n; ++u) if (at < this.pair(u, this.n - 1) + 1) return [u, at - this.pair(u, u + 1) + u + 1];
    return null;
  }

  // Weights are stored relative to the weakest edge of the strongest path between their ends, which bounds them during
  // elimination; the factors below keep every step in range.
  scale(exponents) {
    const n = this.n;
    const B = (i, j) => exponents[this.pair(i, j)];
    this.down = new Float64Array(n * n);
    const factors = [];
    for (let k = 0; k + 1 < n; ++k) {
      let largest = -Infinity;
      for (let l = k + 1; l < n; ++l) largest = Math.max(largest, B(k, l));
      for (let l = k + 1; l < n; ++l) this.down[k * n + l] = 2 ** (B(k, l) - largest);
      for (let i = k + 1; i < n; ++i)
        for (let j = i + 1; j < n; ++j) factors.push(2 ** Math.max(-1074, B(k, i) + B(k, j) - B(i, j) - largest));
    }
    this.factors = Float64Array.from(factors);
  }

  // Logarithm, up to a constant, of the sum over all trees of the products of their edge weights. Overwrites the weights.
  logTreeSum() {
    const { n, work, down, factors } = this;
    let log = 0, product = 1, factor = 0;
    for (let k = 0; k + 1 < n; ++k) {
      const row = k * n;
      let degree = 0;
      for (let l = k + 1; l < n; ++l) degree += work[row + l] * down[row + l];
      for (let i = k + 1; i < n; ++i) {
        const share = work[row + i] / degree, other = i * n;
        for (let j = i + 1; j < n; ++j) work[other + j] += share * work[row + j] * factors[factor++];
      }
      product *= degree;
      if (product < 1e-150 || product > 1e150) {
        log += Math.log(product);
        product = 1;
      }
    }
    return log + Math.log(product);
  }

  // Writes ln P(class, row) of a row without missing values to `out`. Called thousands of times per answer.
  complete(row, out) {
    const { n, nClasses: s, cards, lifts, weights, naive, prior, work } = this;
    for (let c = 0; c < s; ++c) {
      let sum = Math.log(prior[c]);
      for (let f = 0; f < n; ++f) sum += naive[f][row[f] * s + c];
      if (n > 1) {
        for (let u = 0, at = 0; u < n; ++u)
          for (let v = u + 1; v < n; ++v, ++at)
            work[u * n + v] = weights[at] * lifts[at][(row[u] * cards[v] + row[v]) * s + c];
        sum += this.logTreeSum() - this.logAllTrees;
      }
      out[c] = sum;
    }
  }

  assignments(evidence) {
    return evidence.reduce((product, code, f) => (code < 0 ? product * this.cards[f] : product), 1);
  }

  isEstimate(evidence) {
    return this.assignments(evidence) > this.mostAssignments;
  }

  logJoint(evidence) {
    if (this.isEstimate(evidence)) return this.sampled(evidence);
    // Explanations add evidence step by step, so the rows that are consistent with the first evidence are cached.
    const covered = this.kept && evidence.every((code, f) => this.kept.evidence[f] < 0 || this.kept.evidence[f] === code);
    if (!covered) this.kept = this.allRows(evidence);
    return this.summed(evidence);
  }

  // ln P(class, row) for all rows that are consistent with the evidence; the first missing feature changes fastest.
  allRows(evidence) {
    const s = this.nClasses, missing = evidence.flatMap((code, f) => (code < 0 ? [f] : []));
    const row = evidence.map((code) => Math.max(code, 0));
    const logs = new Float64Array(this.assignments(evidence) * s);
    for (let at = 0; at < logs.length; at += s) {
      this.complete(row, logs.subarray(at, at + s));
      this.next(row, missing);
    }
    return { evidence: [...evidence], missing, logs };
  }

  next(row, missing) {
    let digit = 0;
    while (digit < missing.length && ++row[missing[digit]] === this.cards[missing[digit]]) row[missing[digit++]] = 0;
  }

  // The sum over the rows that are consistent with the evidence.
  summed(evidence) {
    const s = this.nClasses, { missing, logs } = this.kept;
    const fixed = missing.filter((f) => evidence[f] >= 0);
    const largest = new Array(s).fill(-Infinity), sums = new Array(s).fill(0);
    const row = evidence.map(() => 0);
    for (let at = 0; at < logs.length; at += s, this.next(row, missing)) {
      if (fixed.some((f) => row[f] !== evidence[f])) continue;
      for (let c = 0; c < s; ++c) {
        const log = logs[at + c];
        if (log === -Infinity) continue;
        if (log > largest[c]) {
          sums[c] *= Math.exp(largest[c] - log);
          largest[c] = log;
        }
        sums[c] += Math.exp(log - largest[c]);
      }
    }
    return largest.map((log, c) => log + Math.log(sums[c]));
  }

  // P(child | parent, class) of a tree, [parent][child][class].
  arcTable(parent, child) {
    const key = parent * this.n + child;
    let table = this.arcTables.get(key);
    if (!table) {
      const counts = this.pairs[this.pair(parent, child)];
      table = this.smoothed(parent < child ? counts : this.turned(counts, child, parent), this.cards[child]);
      this.arcTables.set(key, table);
    }
    return table;
  }

  turned(counts, first, second) {
    const s = this.nClasses, n1 = this.cards[first], n2 = this.cards[second];
    const out = new Float64Array(counts.length);
    for (let i = 0; i < n1; ++i)
      for (let j = 0; j < n2; ++j) for (let c = 0; c < s; ++c) out[(j * n1 + i) * s + c] = counts[(i * n2 + j) * s + c];
    return out;
  }

  sampled(evidence) {
    const found = this.trees.map((tree) => this.ofTree(tree, evidence));
    return Array.from(this.prior, (p, c) => Math.log(p) + Tanager.logSum(found.map((logs) => logs[c])));
  }

  // ln P(evidence | class) in one tree plus the logarithm of the tree's share. Messages go from the leaves to the root. A
  // message to a known parent is one number per class; other messages are scaled to a maximum of one. Branches without
  // evidence send none.
  ofTree({ share, parents, order }, evidence) {
    const s = this.nClasses, logs = new Array(s).fill(Math.log(share));
    const messages = new Array(this.n).fill(null);  // product of the messages to each unknown feature
    for (const f of order) {
      const own = messages[f], known = evidence[f], parent = parents[f], values = this.cards[f];
      if (own === null && known < 0) continue;
      const first = known < 0 ? 0 : known, last = known < 0 ? values : known + 1;
      const table = parent < 0 ? this.roots[f] : this.arcTable(parent, f);
      const sum = (i, c) => {
        let total = 0;
        for (let k = first; k < last; ++k) total += table[(i * values + k) * s + c] * (own === null ? 1 : own[k * s + c]);
        return total;
      };
      if (parent < 0 || evidence[parent] >= 0) {
        for (let c = 0; c < s; ++c) logs[c] += Math.log(sum(parent < 0 ? 0 : evidence[parent], c));
        continue;
      }
      const above = this.cards[parent], message = new Float64Array(above);
      messages[parent] ??= new Float64Array(above * s).fill(1);
      for (let c = 0; c < s; ++c) {
        let largest = 0;
        for (let i = 0; i < above; ++i) largest = Math.max(largest, (message[i] = sum(i, c)));
        logs[c] += Math.log(largest);
        for (let i = 0; i < above; ++i) messages[parent][i * s + c] *= message[i] / largest;
      }
    }
    return logs;
  }
};

// -- all models

Tanager.makeModel = (model, tables, cards, nClasses) => {
  if (model.kind === "network") return new Tanager.Network(model, tables, cards, nClasses);
  if (model.kind === "aode") return new Tanager.Aode(model, cards, nClasses);
  return new Tanager.Tbmatan(model, cards, nClasses);
};

// Caches answers: when one feature changes, those before it in the order of explanations stay the same.
Tanager.CachedModel = class {
  constructor(inference, most = 1000) {
    Object.assign(this, { inference, most, known: new Map() });
  }

  logJoint(evidence) {
    const key = evidence.join();
    let found = this.known.get(key);
    if (!found) {
      if (this.known.size >= this.most) this.known.clear();
      found = this.inference.logJoint(evidence);
      this.known.set(key, found);
    }
    return found;
  }

  isEstimate(evidence) {
    return this.inference.isEstimate?.(evidence) ?? false;
  }
};

// Contribution of every known feature to the log-odds of every class against its rival, as clf.explain defines it.
Tanager.explain = (inference, order, evidence) => {
  const nothing = evidence.map(() => -1);
  const base = inference.logJoint(nothing);
  const terms = evidence.map(() => base.map(() => 0));
  const known = [...nothing];
  let before = base;
  for (const f of order) {
    if (evidence[f] < 0) continue;
    known[f] = evidence[f];
    const after = inference.logJoint(known);
    terms[f] = after.map((log, c) => (before[c] === -Infinity ? 0 : log - before[c]));
    before = after;
  }
  const best = before.indexOf(Math.max(...before));
  let second = best === 0 ? 1 : 0;
  before.forEach((log, c) => {
    if (c !== best && log > before[second]) second = c;
  });
  const rivals = before.map((_, c) => (c === best ? second : best));
  const against = (logs) => logs.map((log, c) => log - logs[rivals[c]]);
  return {
    best,
    possible: before[best] > -Infinity,
    rivals,
    posterior: Tanager.posterior(before),
    base: against(base),
    contributions: terms.map(against),
    logOdds: against(before),
  };
};
