"""An update of the optimiser Adam, over a dozen parameter arrays at once.

Parameters, gradients and moments are dicts of arrays. The number of the step changes from call to call, so
that it is a NumPy scalar: a Python number would be a constant of the trace, and each step traced anew.

    python examples/adam.py
"""

import numpy as np
from timings import compare

SHAPES = {f"{kind}{layer}": shape for layer in range(4) for kind, shape in
          {"weight": (16, 16), "bias": (16,), "scale": (1, 16)}.items()}  # fmt: skip


def moments(gradient, first, second, beta1, beta2):
    """The running means of the gradient and of its square."""
    return beta1 * first + (1 - beta1) * gradient, beta2 * second + (1 - beta2) * gradient * gradient


def step(parameters, gradients, state, t, rate=1e-3, beta1=0.9, beta2=0.999, epsilon=1e-8):
    """New parameters, and the new state: {"first": ..., "second": ...}, a dict of arrays each."""
    new_parameters, first, second = {}, {}, {}
    correction1, correction2 = 1 - beta1**t, 1 - beta2**t
    for name, value in parameters.items():
        first[name], second[name] = moments(
            gradients[name], state["first"][name], state["second"][name], beta1, beta2
        )
        size = np.sqrt(second[name] / correction2) + epsilon
        new_parameters[name] = value - rate * (first[name] / correction1) / size
    return new_parameters, {"first": first, "second": second}


def inputs(seed=0, dtype="f4"):
    """Parameters, their gradients, and moments that are zero."""
    random = np.random.default_rng(seed)
    parameters = {name: random.normal(size=shape).astype(dtype) for name, shape in SHAPES.items()}
    gradients = {name: random.normal(size=shape).astype(dtype) for name, shape in SHAPES.items()}
    zeros = {name: np.zeros(shape, dtype) for name, shape in SHAPES.items()}
    return parameters, gradients, {"first": zeros, "second": zeros}, np.float32(1)


if __name__ == "__main__":
    compare(step, inputs())
