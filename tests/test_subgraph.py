"""Subgraphs: what a search finds, what takes its place, and that no order of things makes a cycle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensoriter.graph.graph import Graph, Node
from tensoriter.graph.passes import subgraph
from tensoriter.graph.passes.subgraph import SubgraphProperty, SubgraphSelector, partition

F8 = np.dtype("f8")


def node(op, *inputs, kind="ufunc"):
    return Node(kind, op, inputs, F8, (3,))


def graph_of(*nodes, outputs=None):
    inputs = [n for n in nodes if n.kind == "input"]
    return Graph(list(nodes), inputs, list(outputs or nodes[-1:]))


class Named(SubgraphSelector):
    """Nodes of the given ops that touch one another; `reset` is counted."""

    def __init__(self, ops, resets):
        self.ops, self.resets = ops, resets

    def select(self, node):
        return self.is_one(node)

    def select_input(self, node, input_node):
        return self.is_one(input_node)

    def select_output(self, node, output_node):
        return self.is_one(output_node)

    def is_one(self, node):
        return node.op in self.ops and node.kind == "ufunc"

    def reset(self):
        self.resets.append(None)


class Together(SubgraphProperty):
    selector = Named

    def __init__(self, *ops):
        self.ops, self.resets, self.selectors = ops, [], []

    def create_selector(self, graph):
        return self.selector(self.ops, self.resets)

    def create_node(self, body, inputs):
        return Node("group", "group", inputs, F8, (3,), attributes={"body": body})


def shown(graph):
    return [(n.op, [i.op for i in n.inputs]) for n in graph]


def is_ordered(graph):
    seen = set()
    for n in graph:
        if any(i not in seen for i in n.inputs):
            return False
        seen.add(n)
    return all(n in seen for n in [*graph.inputs, *graph.outputs]) and len(seen) == len(graph)


def test_a_search_goes_both_ways_and_outputs_are_connected_once():
    x = node("x", kind="input")
    a, b = node("a", x), node("b", x)
    c = node("c", a, b, a)
    d, e = node("d", c, a), node("e", c, x)
    graph = graph_of(x, a, b, c, d, e, outputs=[d, e, c])
    found = partition(graph, Together("b", "c"))
    assert shown(found) == [
        ("x", []), ("a", ["x"]), ("group", ["x", "a"]), ("c", ["group"]), ("d", ["c", "a"]),
        ("e", ["c", "x"]),
    ]  # fmt: skip
    body = found.nodes[2].attributes["body"]
    assert shown(body) == [("input", []), ("input", []), ("b", ["input"]), ("c", ["input", "b", "input"])]
    assert [n.attributes["position"] for n in body.inputs] == [0, 1]
    assert [n.op for n in body.outputs] == ["c"]
    assert [n.op for n in found.outputs] == ["d", "e", "c"]
    assert is_ordered(found)


def test_what_is_found_by_an_output_lies_behind_its_other_inputs():
    x, y = node("x", kind="input"), node("y", kind="input")
    a = node("a", x)
    far = node("far", node("near", y))
    near = far.inputs[0]
    b = node("b", a, far)
    found = partition(graph_of(x, a, y, near, far, b), Together("a", "b"))
    assert [n.op for n in found] == ["x", "y", "near", "far", "group", "b"]


def test_the_graph_stays_as_it_is():
    x = node("x", kind="input")
    a = node("a", x)
    b = node("b", a)
    graph = graph_of(x, a, b)
    partition(graph, Together("a"))
    assert graph.nodes == [x, a, b] and b.inputs == (a,) and graph.outputs == [b]


def test_a_rejected_group_leaves_the_graph_itself():
    class Never(Together):
        def accepts(self, graph, nodes):
            return False

    class Filtered(Together):
        class selector(Named):
            def filter(self, candidates):
                return []

    x = node("x", kind="input")
    graph = graph_of(x, node("a", x))
    assert partition(graph, Never("a")) is graph
    assert partition(graph, Filtered("a")) is graph


def test_nodes_with_a_way_out_and_back_are_not_joined():
    x = node("x", kind="input")
    a = node("a", x)
    out = node("out", a)
    b = node("a", a, out)
    graph = graph_of(x, a, out, b)
    assert partition(graph, Together("a")) is graph


def test_two_groups_never_need_each_other():
    # a1 -> b1 and b2 -> a2: either pair alone is fine, both would be a cycle.
    x = node("x", kind="input")
    a1, b2 = node("a", x), node("b", x)
    b1, a2 = node("b", a1), node("a", b2)

    class Pairs(Together):
        class selector(Named):
            def select(self, node):
                self.start = node
                return node.op == "x"

            def select_output(self, node, output_node):
                return True

            def filter(self, candidates):
                return [n for n in candidates if n.op == self.ops[0]]

    graph = graph_of(x, a1, b2, b1, a2, outputs=[b1, a2])
    once = partition(graph, Pairs("a"))
    assert [n.op for n in once].count("group") == 1
    twice = partition(once, Pairs("b"))
    assert twice is once


def test_filter_returns_candidates_only():
    class Inventive(Together):
        class selector(Named):
            def filter(self, candidates):
                return [*candidates, node("new")]

    x = node("x", kind="input")
    with pytest.raises(ValueError, match="filter returned nodes that were no candidates"):
        partition(graph_of(x, node("a", x)), Inventive("a"))


def test_each_start_begins_with_a_reset():
    x = node("x", kind="input")
    together = Together("none")
    partition(graph_of(x, node("a", x), node("b", x)), together)
    assert len(together.resets) == 3


def test_a_name_is_registered_once():
    subgraph.register("for a test")(Together)
    try:
        assert subgraph.properties["for a test"] is Together
        with pytest.raises(ValueError, match="already"):
            subgraph.register("for a test")(Together)
    finally:
        del subgraph.properties["for a test"]


@st.composite
def random_graphs(draw):
    nodes = [node("x", kind="input")]
    for _ in range(draw(st.integers(1, 12))):
        inputs = draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=3))
        nodes.append(node(draw(st.sampled_from("abc")), *inputs))
    outputs = draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=3))
    return graph_of(*nodes, outputs=outputs)


def meaning(n, known):
    """What a node computes, as nested tuples: through groups and items to the ops within."""
    if n in known:
        return known[n]
    if n.kind == "item":
        group = n.inputs[0]
        body = group.attributes["body"]
        inner = dict(zip(body.inputs, [meaning(i, known) for i in group.inputs], strict=True))
        result = meaning(body.outputs[n.attributes["index"]], inner)
    else:
        result = (n.op, *(meaning(i, known) for i in n.inputs))
    known[n] = result
    return result


@given(random_graphs(), st.lists(st.sampled_from("abc"), min_size=1, max_size=2, unique=True))
def test_random_graphs_mean_the_same_and_have_no_cycle(graph, ops):
    found = partition(graph, Together(*ops))
    assert is_ordered(found)
    before, after = {}, {}
    assert [meaning(n, before) for n in graph.outputs] == [meaning(n, after) for n in found.outputs]
    for n in found:
        assert len(set(n.inputs)) == len(n.inputs) or n.kind != "group"
