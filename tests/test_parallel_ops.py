"""Which ops become a group: each condition, the search through views, and what is told."""

import numpy as np
import pytest

from tensoriter.graph.graph import Graph, Node
from tensoriter.graph.passes import cost, parallel
from tensoriter.graph.passes.parallel import ParallelOps, group_parallel_ops

F8 = np.dtype("f8")
WIN = ParallelOps()  # settings under which the graphs below have a group


@pytest.fixture(autouse=True)
def known_costs(monkeypatch):
    """Ops cost 10,000 ns, or what their name says; a region 1,000 on two threads."""
    monkeypatch.setattr(cost, "nanoseconds", lambda node: node.attributes.get("ns", 10_000.0))
    monkeypatch.setattr(cost, "of_region", lambda threads: 1_000.0)
    monkeypatch.setattr(parallel, "task_threads", lambda: 2)


def node(op, *inputs, kind="ufunc", ns=10_000.0):
    return Node(kind, op, inputs, F8, (3,), attributes={"ns": ns})


def fan(*ops, ns=10_000.0):
    """x -> each op -> stack."""
    x = node("x", kind="input")
    siblings = [node(op, x, ns=ns) for op in ops]
    joined = node("stack", *siblings, kind="call")
    return Graph([x, *siblings, joined], [x], [joined])


def groups(graph):
    bodies = [n.attributes["body"] for n in graph if n.kind == "group"]
    return [[inner.op for inner in body if inner.kind != "input"] for body in bodies]


def test_siblings_from_one_op_are_a_group():
    found = group_parallel_ops(fan("sin", "cos", "exp", "tanh"), WIN)
    assert groups(found) == [["sin", "cos", "exp", "tanh"]]
    assert [n.kind for n in found] == ["input", "group", "item", "item", "item", "item", "call"]


def test_siblings_that_go_to_one_op_are_a_group():
    inputs = [node(f"x{k}", kind="input") for k in range(4)]
    siblings = [node("take", x, kind="take") for x in inputs]
    joined = node("concatenate", *siblings, kind="concatenate")
    found = group_parallel_ops(Graph([*inputs, *siblings, joined], inputs, [joined]), WIN)
    assert groups(found) == [["take"] * 4]


def test_views_are_looked_through_and_stay_outside():
    x = node("x", kind="input")
    parts = [node("index", x, kind="view", ns=0) for _ in range(4)]
    siblings = [node("exp", part) for part in parts]
    shaped = [node("reshape", sibling, kind="view", ns=0) for sibling in siblings]
    joined = node("concatenate", *shaped, kind="concatenate")
    found = group_parallel_ops(Graph([x, *parts, *siblings, *shaped, joined], [x], [joined]), WIN)
    assert groups(found) == [["exp"] * 4]
    assert sum(n.kind == "view" for n in found) == 8


@pytest.mark.parametrize("threshold, formed", [(2, True), (4, True), (5, False)])
def test_the_threshold(threshold, formed):
    found = group_parallel_ops(fan("sin", "cos", "exp", "tanh"), WIN.but(threshold=threshold))
    assert bool(groups(found)) is formed


@pytest.mark.parametrize("ns, formed", [(100, False), (200, True), (1e6, True), (2e6, False)])
def test_the_bounds_of_work(ns, formed, monkeypatch):
    monkeypatch.setattr(cost, "of_region", lambda threads: 1.0)
    assert bool(groups(group_parallel_ops(fan("sin", "cos", "exp", "tanh", ns=ns), WIN))) is formed


def test_ops_of_too_little_work_are_left_out_of_a_group():
    graph = fan("sin", "cos", "exp", "tanh", "sqrt")
    graph.nodes[2].attributes["ns"] = 10
    assert groups(group_parallel_ops(graph, WIN)) == [["sin", "exp", "tanh", "sqrt"]]


def test_a_group_that_would_lose_is_not_formed(monkeypatch):
    graph = fan("sin", "cos", "exp", "tanh", ns=400)  # 1,600 on one thread, 800 and the region on two
    assert not groups(group_parallel_ops(graph, WIN))
    monkeypatch.setattr(cost, "of_region", lambda threads: 400.0)
    assert groups(group_parallel_ops(graph, WIN))


def test_a_group_whose_longest_op_is_most_of_it_would_lose():
    graph = fan("sin", "cos", "exp", "tanh", ns=250)
    graph.nodes[1].attributes["ns"] = 100_000
    assert not groups(group_parallel_ops(graph, WIN))


def test_one_thread_forms_no_group(monkeypatch):
    monkeypatch.setattr(parallel, "task_threads", lambda: 1)
    assert not groups(group_parallel_ops(fan("sin", "cos", "exp", "tanh"), WIN))


def test_ops_that_are_not_known_to_be_safe_are_not_grouped_unless_allowed():
    graph = fan("sin", "special", "exp", "tanh")
    assert not groups(group_parallel_ops(graph, WIN))
    assert groups(group_parallel_ops(graph, WIN.but(allow=frozenset({"special"}))))


def test_ops_that_are_denied_are_not_grouped():
    graph = fan("sin", "cos", "exp", "tanh", "sqrt")
    settings = WIN.but(deny=frozenset({"cos"}))
    assert groups(group_parallel_ops(graph, settings)) == [["sin", "exp", "tanh", "sqrt"]]


def test_power_of_integers_raises_and_so_stays_serial():
    assert "power" not in parallel.THREAD_SAFE
    assert {"add", "exp", "take", "where"} <= parallel.THREAD_SAFE


def test_a_fused_run_is_as_safe_as_the_ops_in_it():
    graph = fan("sin", "cos", "exp")
    x, joined = graph.nodes[0], graph.nodes[-1]
    body = fan("power").nodes[:2]
    fused = node("sin, power", x, kind="fused")
    fused.attributes["body"] = Graph(body, body[:1], body[1:])
    with_fused = node("stack", *joined.inputs, fused, kind="call")
    graph = Graph([*graph.nodes[:-1], fused, with_fused], graph.inputs, [with_fused])
    assert not groups(group_parallel_ops(graph, WIN))
    body[1].op = "sqrt"
    assert groups(group_parallel_ops(graph, WIN)) == [["sin", "cos", "exp", "sin, power"]]


def test_ops_of_one_name_that_need_each_other_are_not_grouped():
    x = node("x", kind="input")
    chain = [x]
    for _ in range(6):
        chain.append(node("sin", chain[-1]))
    joined = node("stack", *chain[1:], kind="call")
    assert not groups(group_parallel_ops(Graph([*chain, joined], [x], [joined]), WIN))


def test_dependence_is_looked_for_in_the_whole_graph():
    # a needs b only through a reduction that is no candidate.
    graph = fan("sin", "cos", "exp", "tanh")
    x, siblings = graph.nodes[0], graph.nodes[1:-1]
    detour = node("sum", siblings[0], kind="reduce")
    late = node("sqrt", x, detour)
    joined = node("stack", *siblings, late, kind="call")
    found = group_parallel_ops(Graph([x, *siblings, detour, late, joined], [x], [joined]), WIN)
    assert groups(found) == [["sin", "cos", "exp", "tanh"]]


def test_chains_are_left_as_they_are():
    x = node("x", kind="input")
    nodes = [x]
    for _ in range(30):
        nodes.append(node("add", nodes[-1], x))
    graph = Graph(nodes, [x], [nodes[-1]])
    assert group_parallel_ops(graph, WIN) is graph


def test_handles_of_a_group_are_those_of_its_ops():
    graph = fan("sin", "cos", "exp", "tanh")
    for k, n in enumerate(graph.nodes[1:-1]):
        n.handles = (k + 1, 9)
    group = next(n for n in group_parallel_ops(graph, WIN) if n.kind == "group")
    assert group.handles == (1, 9, 2, 3, 4)


# ---------------------------------------------------------------- settings


def test_the_environment(monkeypatch):
    monkeypatch.setenv("TENSORITER_PARALLEL_OPS_THRESHOLD", "7")
    monkeypatch.setenv("TENSORITER_PARALLEL_OPS_ALLOW", "erf, gamma")
    monkeypatch.setenv("TENSORITER_PARALLEL_OPS_DENY", "exp")
    monkeypatch.setenv("TENSORITER_PARALLEL_OPS_VERBOSE", "2")
    assert ParallelOps.from_environment() == ParallelOps(
        threshold=7, allow=frozenset({"erf", "gamma"}), deny=frozenset({"exp"}), verbose=2
    )


def test_what_is_no_number_is_named(monkeypatch):
    monkeypatch.setenv("TENSORITER_PARALLEL_OPS_THRESHOLD", "many")
    with pytest.raises(ValueError, match="TENSORITER_PARALLEL_OPS_THRESHOLD=many is no whole number"):
        ParallelOps.from_environment()


@pytest.mark.parametrize(
    "changes", [{"threshold": 1}, {"least_work": -1.0}, {"least_work": 2.0, "most_work": 1.0}], ids=str
)
def test_settings_that_make_no_sense_are_refused(changes):
    with pytest.raises(ValueError):
        ParallelOps(**changes)


def test_verbose_1_tells_of_groups_once(capsys):
    settings = WIN.but(verbose=1)
    for _ in range(2):
        group_parallel_ops(fan("sin", "cos", "exp", "exp"), settings)
    group_parallel_ops(fan("sin"), settings)
    assert capsys.readouterr().err == "tensoriter: a group of 1 sin, 1 cos, 2 exp\n"


def test_verbose_2_tells_why_not(capsys):
    settings = WIN.but(verbose=2)
    for _ in range(2):
        group_parallel_ops(fan("sin", "cos", "exp", "tanh", ns=50), settings)
    told = capsys.readouterr().err.splitlines()
    assert len(told) == len(set(told)) == 2  # around the input and around the stack
    assert "no group of 1 sin, 1 cos, 1 exp, 1 tanh around x (a graph): 0 of 4 are independent" in told[0]


def test_nothing_is_told_by_default(capsys):
    group_parallel_ops(fan("sin", "cos", "exp", "tanh"), WIN)
    assert capsys.readouterr() == ("", "")
