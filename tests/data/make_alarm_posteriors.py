"""Write alarm_posteriors.json: what pyAgrum (3.3.1) answers to questions about alarm.bif.

Run ``python make_alarm_posteriors.py`` in this folder, with tanager and pyAgrum installed. The tests read the answers
only, so that they need no pyAgrum. Its own reader of BIF keeps single precision, so tanager's is used.

ALARM: I. Beinlich, H. Suermondt, R. Chavez and G. Cooper. The ALARM monitoring system: a case study with two
probabilistic inference techniques for belief networks. Second European Conference on Artificial Intelligence in
Medicine, 1989, 247-256.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyagrum as gum

from tanager.interop._bif_reader import parse_bif
from tanager.interop._variables import Variable

HERE = Path(__file__).parent


def build(variables: dict[str, Variable]) -> gum.BayesNet:
    """Make pyAgrum's network, cell by cell."""
    network = gum.BayesNet()
    for v in variables.values():
        network.add(gum.LabelizedVariable(v.name, v.name, v.labels))
    for v in variables.values():
        for parent in v.parents:
            network.addArc(parent, v.name)
    for v in variables.values():
        for index in np.ndindex(*v.table.shape):
            case = {name: variables[name].labels[i] for name, i in zip([*v.parents, v.name], index, strict=True)}
            place = gum.Instantiation(network.cpt(v.name))
            for name, label in case.items():
                place.chgVal(name, label)
            network.cpt(v.name).set(place, float(v.table[index]))
    return network


def draw_case(variables: dict[str, Variable], random: np.random.Generator) -> dict[str, str]:
    """Draw a whole case, so that every part of it is possible evidence."""
    case: dict[str, str] = {}
    while len(case) < len(variables):
        for v in variables.values():
            if v.name not in case and all(p in case for p in v.parents):
                weights = v.table[tuple(variables[p].labels.index(case[p]) for p in v.parents)]
                case[v.name] = v.labels[random.choice(len(weights), p=weights / weights.sum())]
    return case


def log_probability(network: gum.BayesNet, evidence: dict[str, str]) -> float:
    """Return ln P(evidence); an engine with targets would leave out the evidence that they do not depend on."""
    engine = gum.LazyPropagation(network)
    engine.setEvidence(evidence)
    engine.makeInference()
    return float(np.log(engine.evidenceProbability()))


def main() -> None:
    """Ask 40 questions, with none to all but three of the variables observed."""
    variables = {v.name: v for v in parse_bif((HERE / "alarm.bif").read_text())[0]}
    network = build(variables)
    names = sorted(variables)
    random = np.random.default_rng(1989)
    questions = []
    for i in range(40):
        case = draw_case(variables, random)
        observed = sorted(random.choice(names, size=i * (len(names) - 3) // 39, replace=False).tolist())
        asked = sorted(random.choice([n for n in names if n not in observed], size=3, replace=False).tolist())
        engine = gum.LazyPropagation(network)
        engine.addJointTarget(set(asked[:2]))
        for name in asked:
            engine.addTarget(name)
        engine.setEvidence({name: case[name] for name in observed})
        engine.makeInference()
        pair = engine.jointPosterior(set(asked[:2]))
        table = pair.toarray()  # the last variable outermost
        joint = table if pair.variable(1).name() == asked[0] else table.T
        questions.append(
            {
                "evidence": {name: case[name] for name in observed},
                "log_probability": log_probability(network, {name: case[name] for name in observed}),
                "posteriors": {name: engine.posterior(name).toarray().tolist() for name in asked},
                "joint": {"names": asked[:2], "values": joint.tolist()},
            }
        )
    lines = ",\n".join(json.dumps(question) for question in questions)
    (HERE / "alarm_posteriors.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
