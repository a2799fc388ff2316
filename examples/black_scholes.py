"""Prices of European options by the formula of Black and Scholes: exp, log, sqrt, and erf of SciPy.

    pip install scipy
    python examples/black_scholes.py
"""

import numpy as np
import scipy.special
from timings import compare

import tensoriter

erf = tensoriter.Op.from_ufunc(scipy.special.erf)


def normal(x):
    """How much of the normal distribution lies below x."""
    return 0.5 + 0.5 * erf(x * np.sqrt(0.5))


def step(price, strike, years, rate, volatility):
    """The prices of calls and of puts."""
    spread = volatility * np.sqrt(years)
    d1 = (np.log(price / strike) + (rate + volatility * volatility / 2) * years) / spread
    d2 = d1 - spread
    discounted = strike * np.exp(-rate * years)
    call = price * normal(d1) - discounted * normal(d2)
    return call, call - price + discounted


def inputs(n=1000, seed=0):
    """Prices, strikes and years; rate and volatility."""
    random = np.random.default_rng(seed)
    return random.uniform(80, 120, n), random.uniform(80, 120, n), random.uniform(0.1, 2, n), 0.02, 0.3


if __name__ == "__main__":
    compare(step, inputs())
