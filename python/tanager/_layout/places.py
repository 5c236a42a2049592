"""Step 3 of the layout: positions within layers, so arcs are steep and nothing overlaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .layers import Layered

#: Gap between nodes, width of a lane, and gap beside a lane.
NODE_GAP, LANE, LANE_GAP = 1.5, 0.6, 0.6
_ROUNDS = 12


def places_along(layers: list[list[int]], layered: Layered, widths: list[float]) -> tuple[list[float], float]:
    """Return the center of every node and lane, and the total width.

    Every layer in turn is moved as close to its neighbors as its order and the page allow, by least squares: an isotonic
    regression, solved exactly by pooling adjacent violators.
    """
    n = len(widths)
    sizes = [*widths, *[LANE] * (len(layered.layer_of) - n)]
    offsets = [_offsets(layer, sizes, n) for layer in layers]
    width = max(found[-1] + sizes[layer[-1]] / 2 for layer, found in zip(layers, offsets, strict=True))
    x = [0.0] * len(sizes)
    for layer, found in zip(layers, offsets, strict=True):
        spare = (width - found[-1] - sizes[layer[-1]] / 2) / 2
        for v, offset in zip(layer, found, strict=True):
            x[v] = offset + spare
    down = list(range(len(layers)))
    for sweep in range(2 * _ROUNDS):
        both = sweep >= _ROUNDS
        for number in down if sweep % 2 == 0 else reversed(down):
            layer = layers[number]
            wanted, weights = [], []
            for v in layer:
                near = layered.above[v] if sweep % 2 == 0 else layered.below[v]
                near = [*layered.above[v], *layered.below[v]] if both or not near else near
                if not near:
                    wanted.append(x[v])
                    weights.append(0.1)
                    continue
                # Straight lanes have priority.
                pull = [6.0 if u >= n and v >= n else 1.0 for u in near]
                wanted.append(sum(p * x[u] for p, u in zip(pull, near, strict=True)) / sum(pull))
                weights.append(sum(pull))
            for v, place in zip(layer, _fitted(wanted, weights, offsets[number], sizes, layer, width), strict=True):
                x[v] = place
    return _to_the_left(x, sizes)


def _offsets(layer: list[int], sizes: list[float], n: int) -> list[float]:
    """Return the positions of a layer packed to the left."""
    found, x = [], 0.0
    for i, v in enumerate(layer):
        if i:
            x += NODE_GAP if v < n and layer[i - 1] < n else LANE_GAP
        found.append(x + sizes[v] / 2)
        x += sizes[v]
    return found


def _fitted(
    wanted: list[float], weights: list[float], offsets: list[float], sizes: list[float], layer: list[int], width: float
) -> list[float]:
    """Return the positions nearest to the wanted ones that keep order, distances and page."""
    blocks: list[tuple[float, float, int]] = []  # mean, weight, length
    for want, weight, offset in zip(wanted, weights, offsets, strict=True):
        mean, heavy, length = want - offset, weight, 1
        while blocks and blocks[-1][0] > mean:
            other, more, longer = blocks.pop()
            mean = (mean * heavy + other * more) / (heavy + more)
            heavy, length = heavy + more, length + longer
        blocks.append((mean, heavy, length))
    most = width - offsets[-1] - sizes[layer[-1]] / 2
    shifts = [min(max(mean, 0.0), most) for mean, _, length in blocks for _ in range(length)]
    return [offset + shift for offset, shift in zip(offsets, shifts, strict=True)]


def _to_the_left(x: list[float], sizes: list[float]) -> tuple[list[float], float]:
    left = min(place - size / 2 for place, size in zip(x, sizes, strict=True))
    right = max(place + size / 2 for place, size in zip(x, sizes, strict=True))
    return [place - left for place in x], right - left
