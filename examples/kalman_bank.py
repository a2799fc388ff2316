"""A bank of m Kalman filters of four states (position, velocity, acceleration, jerk), of which each measures
a position: the update is element-wise on (m, 4) and (m, 4, 4).

    python examples/kalman_bank.py
"""

import numpy as np
from timings import compare

DT = 0.1
TRANSITION = np.array([
    [1.0, DT, DT**2 / 2, DT**3 / 6],
    [0.0, 1.0, DT, DT**2 / 2],
    [0.0, 0.0, 1.0, DT],
    [0.0, 0.0, 0.0, 1.0],
])  # fmt: skip
PROCESS_NOISE = np.diag([1e-6, 1e-5, 1e-4, 1e-3])


def predict(state, covariance):
    """State (m, 4) and covariance (m, 4, 4) one time step later."""
    moved = np.matmul(TRANSITION, covariance)
    return np.matmul(state, TRANSITION.T), np.matmul(moved, TRANSITION.T) + PROCESS_NOISE


def update(state, covariance, measured, noise):
    """The same after a measurement (m,) of the position, whose variance is `noise`."""
    innovation = measured - state[:, 0]
    gain = covariance[:, :, 0] / (covariance[:, 0, 0] + noise)[:, None]
    state = state + gain * innovation[:, None]
    covariance = covariance - gain[:, :, None] * covariance[:, None, 0, :]
    covariance = (covariance + covariance.transpose(0, 2, 1)) * 0.5  # stays symmetric
    return state, covariance


def step(state, covariance, measured, noise=0.25):
    """One time step: predict, then update."""
    return update(*predict(state, covariance), measured, noise)


def inputs(m=50, seed=0):
    """Filters that know nothing yet, and their first measurements."""
    random = np.random.default_rng(seed)
    return random.normal(size=(m, 4)), np.tile(np.eye(4), (m, 1, 1)), random.normal(size=m)


if __name__ == "__main__":
    compare(step, inputs())
