"""Time a step as it stands, and captured."""

import time

import tensoriter


def compare(step, arguments, seconds=1.0):
    """Print what a call of each takes, the best of rounds that take turns, in microseconds."""
    captured = tensoriter.capture(step)
    best = {}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, function in (("plain NumPy", step), ("captured", captured)):
            start = time.perf_counter()
            for _ in range(20):
                function(*arguments)
            taken = (time.perf_counter() - start) / 20
            best[name] = min(taken, best.get(name, taken))
    for name, taken in best.items():
        print(f"{name:12} {taken * 1e6:9.1f} us")
    print(f"{len(captured.graph)} nodes, {best['plain NumPy'] / best['captured']:.1f} times as fast")
