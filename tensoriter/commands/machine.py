"""Facts about this machine that belong beside every measurement."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

import numpy as np

import tensoriter


def machine_facts() -> dict[str, str]:
    """Versions, instruction set, processor and system, as text."""
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "tensoriter": tensoriter.__version__,
        "isa": str(tensoriter.info()["isa"]),
        "cpu": cpu_name(),
        "cores": str(os.cpu_count()),
        "system": platform.platform(),
    }


def cpu_name() -> str:
    """The processor's name: from the kernel on Linux and macOS, else what Python knows."""
    try:
        if platform.system() == "Linux":
            lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
            names = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
            return names[0] if names else platform.machine()
        if platform.system() == "Darwin":
            question = ["sysctl", "-n", "machdep.cpu.brand_string"]
            return subprocess.check_output(question, text=True).strip()
    except (OSError, subprocess.CalledProcessError):
        pass  # a sandbox without either: the general answer will do
    return platform.processor() or platform.machine()
