"""Plans in files and pickles: the graph as text, its arrays beside it.

It is lowered anew where it is loaded, so that a file fits every machine and version of NumPy.

A file is a zip archive of 'plan.json', 'debug.json' unless it was left out, and 'arrays/0.npy' and so on.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import sys
import zipfile
from dataclasses import replace
from typing import Any

import numpy as np

from tensoriter.core.hooks import public
from tensoriter.core.instructions import stand_in
from tensoriter.core.op import Op
from tensoriter.graph.debug import MEMBER, DebugMap
from tensoriter.graph.graph import Graph, Node
from tensoriter.graph.lower import lower
from tensoriter.graph.plan import INPUT, Plan

FORMAT = 1


@public
def load_plan(file: str | os.PathLike[str]) -> Plan:
    """The plan that `Plan.save` has written to a file. ValueError if it is none.

    It needs the modules that its ufuncs are from (NumPy, SciPy), not the source of the function.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            data = json.loads(archive.read("plan.json"))
            arrays = [
                np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
                for name in sorted(archive.namelist(), key=len_and_name)
                if name.startswith("arrays/")
            ]
            debug = json.loads(archive.read(MEMBER)) if MEMBER in archive.namelist() else None
    except (zipfile.BadZipFile, KeyError, json.JSONDecodeError):
        raise ValueError(f"{os.fspath(file)} is no saved plan") from None
    if data.get("format") != FORMAT:
        raise ValueError(f"{os.fspath(file)} was saved by another version of tensoriter")
    return plan_of(data, arrays, debug)


def save_plan(plan: Plan, file: str | os.PathLike[str], debug: bool) -> None:
    """What Plan.save does."""
    data, arrays = parts_of(plan)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("plan.json", json.dumps(data))
        for number, array in enumerate(arrays):
            memory = io.BytesIO()
            np.save(memory, array, allow_pickle=False)
            archive.writestr(f"arrays/{number}.npy", memory.getvalue())
        if debug and plan.graph.debug is not None:
            archive.writestr(MEMBER, json.dumps(plan.graph.debug.to_data()))


def len_and_name(name: str) -> tuple[int, str]:
    """The key by which arrays/10 stands behind arrays/9."""
    return len(name), name


def parts_of(plan: Plan) -> tuple[dict[str, Any], list[np.ndarray]]:
    """The plan as what JSON can hold, and its arrays."""
    arrays: list[np.ndarray] = []
    writer = Writer(arrays)
    layouts = [
        [writer.write(x.array.dtype), list(x.array.shape), list(x.array.strides), x.array.flags.aligned]
        for x in plan.buffers
        if x.kind == INPUT
    ]
    data = {"format": FORMAT, "inputs": layouts, "graph": writer.write_graph(plan.graph)}
    if plan.graph.traced is not None:
        data["traced"] = writer.write_graph(plan.graph.traced)
    return data, arrays


def plan_of(data: dict[str, Any], arrays: list[np.ndarray], debug: dict[str, Any] | None) -> Plan:
    """The plan of these parts, under debug handles of this process."""
    infos, new = DebugMap.from_data(debug).with_new_handles() if debug is not None else (None, {})
    reader = Reader(arrays, new)
    graph = replace(reader.read_graph(data["graph"]), debug=infos)
    if "traced" in data:
        graph.traced = replace(reader.read_graph(data["traced"]), debug=infos)
    layouts = [
        stand_in(k, reader.read(dtype), tuple(shape), tuple(strides), aligned)
        for k, (dtype, shape, strides, aligned) in enumerate(data["inputs"])
    ]
    return lower(graph, layouts)


# ---------------------------------------------------------------- ufuncs by name


def name_of_ufunc(ufunc: np.ufunc) -> list[str]:
    """[module, name]. TypeError where no module has the ufunc under its name, as another process has to."""
    name = ufunc.__name__
    own = getattr(ufunc, "__module__", None)
    for module_name in ("numpy", own, *sorted(sys.modules, key=is_private)):
        module = sys.modules.get(module_name or "")
        if module_name != "__main__" and module is not None and vars(module).get(name) is ufunc:
            return [str(module_name), name]
    raise TypeError(f"the plan cannot be saved: {ufunc!r} is not found under its name in any module")


def is_private(module_name: str) -> tuple[bool, int, str]:
    """The key by which public modules come first, and short names before long ones."""
    return any(part.startswith("_") for part in module_name.split(".")), len(module_name), module_name


def ufunc_of_name(module: str, name: str) -> np.ufunc:
    """The ufunc of that name. ValueError for anything else."""
    found = getattr(importlib.import_module(module), name, None)
    if not isinstance(found, np.ufunc):
        raise ValueError(f"{module} has no ufunc {name}, which the plan needs")
    return found


# ---------------------------------------------------------------- values as JSON


class Writer:
    """Writes values as what JSON can hold; arrays go into a list of their own."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self.arrays = arrays

    def write(self, value: Any) -> Any:
        """Numbers, strings, containers, dtypes, arrays, ops and graphs. TypeError for anything else."""
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return {"float": value.hex()}
        if kind is complex:
            return {"complex": [value.real.hex(), value.imag.hex()]}
        if kind in (tuple, list):
            return {kind.__name__: [self.write(item) for item in value]}
        if kind is dict:
            return {"dict": [[self.write(name), self.write(item)] for name, item in value.items()]}
        if kind is slice:
            return {"slice": [self.write(part) for part in (value.start, value.stop, value.step)]}
        if value is Ellipsis:
            return {"ellipsis": 0}
        if isinstance(value, np.dtype):
            return {"dtype": (value.byteorder if not value.isnative else "") + value.char}
        if isinstance(value, (np.generic, np.ndarray)):
            self.arrays.append(np.asarray(value))
            number = [len(self.arrays) - 1, value.dtype.char]
            return {"scalar" if isinstance(value, np.generic) else "array": number}
        if isinstance(value, Op):
            return {"op": name_of_ufunc(value.ufunc)}
        if isinstance(value, Graph):
            return {"graph": self.write_graph(value)}
        raise TypeError(f"the plan cannot be saved: {value!r} has no name in another process")

    def write_graph(self, graph: Graph) -> dict[str, Any]:
        """A graph as a table of nodes that name one another by number."""
        numbers = {node: number for number, node in enumerate(graph.nodes)}
        nodes = [
            [
                node.kind,
                node.op,
                [numbers[x] for x in node.inputs],
                self.write(node.dtype),
                list(node.shape),
                node.is_scalar,
                self.write(node.attributes),
                list(node.handles),
            ]
            for node in graph.nodes
        ]
        return {
            "name": graph.name,
            "nodes": nodes,
            "inputs": [numbers[x] for x in graph.inputs],
            "outputs": [numbers[x] for x in graph.outputs],
        }


class Reader:
    """Reads what Writer wrote; `handles` has the new debug handle of each old one."""

    def __init__(self, arrays: list[np.ndarray], handles: dict[int, int]) -> None:
        self.arrays = arrays
        self.handles = handles

    def read(self, data: Any) -> Any:
        """The value."""
        if not isinstance(data, dict):
            return data
        ((kind, found),) = data.items()
        if kind == "float":
            return float.fromhex(found)
        if kind == "complex":
            return complex(*map(float.fromhex, found))
        if kind in ("tuple", "list", "slice"):
            items = [self.read(item) for item in found]
            return items if kind == "list" else tuple(items) if kind == "tuple" else slice(*items)
        if kind == "dict":
            return {self.read(name): self.read(item) for name, item in found}
        if kind == "dtype":
            return np.dtype(found)
        if kind in ("scalar", "array"):
            number, char = found
            array = self.arrays[number]
            array = array.view(char) if array.dtype.isnative and array.dtype.char != char else array
            return array[()] if kind == "scalar" else array
        if kind == "op":
            return Op.from_ufunc(ufunc_of_name(*found), unsupported="numpy")
        return Ellipsis if kind == "ellipsis" else self.read_graph(found)

    def read_graph(self, data: dict[str, Any]) -> Graph:
        """The graph of a table."""
        nodes: list[Node] = []
        for kind, op, inputs, dtype, shape, is_scalar, attributes, handles in data["nodes"]:
            nodes.append(
                Node(
                    kind,
                    op,
                    tuple([nodes[k] for k in inputs]),
                    self.read(dtype),
                    tuple(shape),
                    is_scalar,
                    self.read(attributes),
                    tuple([self.handles.get(k, k) for k in handles]),
                )
            )
        return Graph(
            nodes, [nodes[k] for k in data["inputs"]], [nodes[k] for k in data["outputs"]], data["name"]
        )
