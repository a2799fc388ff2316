"""Uses of the public interface that mypy checks against the stubs (see .ci/run), and that run as a test."""

from typing import Any

import numpy as np
import numpy.typing as npt

import tensoriter


def sums() -> npt.NDArray[Any]:
    x = np.arange(4.0)
    total: npt.NDArray[Any] = tensoriter.add(x, 1, out=x)
    tensoriter.add(total, [1, 2, 3, 4], where=x > 2, out=None)
    tensoriter.add(total, x, alpha=2, dtype=np.float32, casting="same_kind", order="C")
    tensoriter.add.reduce(x)
    tensoriter.add(x, x, total)
    return total


def others() -> npt.NDArray[Any]:
    x = np.arange(4.0)
    double = tensoriter.Op.from_ufunc(np.frompyfunc(lambda value: 2 * value, 1, 1), unsupported="numpy")
    fraction, whole = tensoriter.modf(double(x).astype(np.float64))
    tensoriter.negative(fraction, out=whole)
    return np.asarray(whole)


def looks() -> str:
    explanation = tensoriter.explain(np.ones(3), 2.0)
    with tensoriter.force_path("strided"):
        iterator = tensoriter.TensorIterator(np.ones((2, 3)), np.ones(3), op=tensoriter.add)
    steps: tuple[tuple[int, ...], ...] = iterator.strides
    built: tuple[str, ...] = tensoriter.info()["isa_built"]
    return f"{explanation.path} {iterator.path} {len(steps)} {len(built)}"


def state() -> int:
    x = np.ones(3)
    step = tensoriter.add.bind(x, 1.0, out=x)
    result: npt.NDArray[Any] = step()
    step(result, x)
    with tensoriter.threads(tensoriter.num_threads()):
        tensoriter.set_num_threads(1)
    tensoriter.free_list.enabled = True
    tensoriter.free_list.clear()
    return tensoriter.free_list.limit()["entries"] - tensoriter.free_list.info()["entries"]


@tensoriter.capture
def captured(x: npt.NDArray[Any], dt: float = 0.5) -> npt.NDArray[Any]:
    return x * dt


class Scaled:
    @tensoriter.capture(fallback=True)
    def step(self, x: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], str]:
        return x + 1, "text"


def steps() -> list[float]:
    x = np.ones(3)
    half: npt.NDArray[Any] = captured(x)
    captured(x, dt=0.25, out=half)
    more, text = Scaled().step(half)
    graph = captured.graph
    try:
        tensoriter.capture(lambda x: float(x))(x)
    except tensoriter.CaptureError as error:
        assert graph is not None and graph.to_dot() and str(error) and text
    tensoriter.capture(scaled, passes=[])(x)
    values: list[float] = more.tolist()
    return values


def scaled(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return 2 * x


def profiled() -> str:
    tensoriter.profiler.set_config(profile_memory=True, dump_period=0.5)
    domain = tensoriter.profiler.Domain("loading")
    task: tensoriter.profiler.Task = domain.new_task("read")
    batches = domain.new_counter("batches")
    with tensoriter.profiler.profile(profile_api=False), tensoriter.profiler.scope("model"), task as same:
        batches += 1
        same.enable_aggregate = False
        domain.new_marker("here").mark("thread")
    return tensoriter.profiler.dumps(format="json", sort_by="p99")


def test_examples_run() -> None:
    assert state() >= 0
    assert sums().tolist() == [2.0, 4.0, 6.0, 8.0]
    assert others().tolist() == [0.0, 0.0, 0.0, 0.0]
    assert looks().startswith("contiguous strided 3")
    assert steps() == [1.25, 1.25, 1.25]
    assert profiled().startswith("{")
