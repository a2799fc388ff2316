"""Gravity among n bodies, one leapfrog step: pairs by broadcasting, sums over one axis.

    python examples/n_body.py
"""

import numpy as np
from timings import compare

SOFTENING = 1e-3  # in units of distance: bodies that meet do not fly off


def accelerations(position, mass):
    """Of each body, (n, 3), from positions (n, 3) and masses (n,); the unit of gravity is 1."""
    distance = position[None, :, :] - position[:, None, :]
    squared = (distance * distance).sum(axis=2) + SOFTENING**2
    strength = mass / (squared * np.sqrt(squared))
    return (distance * strength[:, :, None]).sum(axis=1)


def step(position, velocity, mass, dt):
    """Positions and velocities after dt, and the kinetic energy."""
    velocity = velocity + accelerations(position, mass) * (dt / 2)
    position = position + velocity * dt
    velocity = velocity + accelerations(position, mass) * (dt / 2)
    energy = (mass[:, None] * velocity**2).sum() / 2
    return position, velocity, energy


def inputs(n=20, seed=0):
    """A cloud of bodies at rest."""
    random = np.random.default_rng(seed)
    return random.normal(size=(n, 3)), np.zeros((n, 3)), random.uniform(0.5, 2.0, n) / n, 0.01


if __name__ == "__main__":
    compare(step, inputs())
