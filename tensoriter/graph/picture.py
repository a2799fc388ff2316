"""A picture of a graph: layers from top to bottom, drawn by matplotlib."""

from __future__ import annotations

from typing import Any

from tensoriter.graph.display import label_of
from tensoriter.graph.graph import Graph, Node

_WIDTH, _HEIGHT = 1.6, 0.8  # inches for a node
_COLOURS = {"input": "#cfe8ff", "constant": "#eeeeee", "reduce": "#ffe2c4", "call": "#ffe2c4"}


def layers_of(graph: Graph) -> list[list[Node]]:
    """The nodes in layers: each below all of its inputs, constants just above where they are used. Within a
    layer, nodes lie where their inputs do on average, so that few lines cross."""
    depth: dict[Node, int] = {}
    for node in graph:
        depth[node] = max((depth[x] + 1 for x in node.inputs), default=0)
    for node in reversed(graph.nodes):
        if node.kind == "constant":
            users = [depth[user] for user in graph if node in user.inputs]
            depth[node] = min(users, default=1) - 1
    layers: list[list[Node]] = [[] for _ in range(max(depth.values(), default=0) + 1)]
    place: dict[Node, float] = {}
    for node in graph:
        layers[depth[node]].append(node)
    for layer in layers:
        layer.sort(key=lambda node: sum(place[x] for x in node.inputs) / max(1, len(node.inputs)))
        place.update({node: k - (len(layer) - 1) / 2 for k, node in enumerate(layer)})
    return layers


def draw(graph: Graph) -> Any:
    """A matplotlib figure of the graph. Results have a thick border."""
    from matplotlib.figure import Figure

    layers = layers_of(graph)
    width = max(4.0, _WIDTH * max(map(len, layers)))
    figure = Figure(figsize=(width, max(2.0, _HEIGHT * 1.4 * len(layers))), layout="constrained")
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.set_title(graph.name)
    places = {
        node: (_WIDTH * (k - (len(layer) - 1) / 2), -_HEIGHT * 1.4 * depth)
        for depth, layer in enumerate(layers)
        for k, node in enumerate(layer)
    }
    for node, place in places.items():
        for x in node.inputs:
            axes.annotate("", place, places[x], zorder=1,
                          arrowprops={"arrowstyle": "->", "color": "#888888", "shrinkA": 14, "shrinkB": 14})
        border = 2.0 if node in graph.outputs else 0.6
        box = {"boxstyle": "round", "facecolor": _COLOURS.get(node.kind, "white"), "linewidth": border}
        axes.text(*place, label_of(node), ha="center", va="center", fontsize=7, bbox=box, zorder=2)
    axes.set_xlim(-width / 2 - 0.4, width / 2 + 0.4)
    axes.set_ylim(-_HEIGHT * 1.4 * (len(layers) - 1) - 0.6, 0.6)
    return figure
