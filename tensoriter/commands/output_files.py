"""What a measurement leaves behind when asked: a JSON file, a picture."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tensoriter.commands import UsageError


def check_output_files(json_path: str | None, plot_path: str | None) -> None:
    """Refuse before minutes of measuring what could not be written after them."""
    if plot_path and not find_spec("matplotlib"):
        raise UsageError("--plot needs matplotlib, which is not installed: pip install matplotlib")
    if plot_path:
        _check_picture_format(plot_path)
    for path in filter(None, (json_path, plot_path)):
        if not Path(path).absolute().parent.is_dir():
            raise UsageError(f"cannot write {path}: its folder does not exist")


def _check_picture_format(path: str) -> None:
    from matplotlib.backend_bases import FigureCanvasBase

    formats = FigureCanvasBase.get_supported_filetypes()
    if Path(path).suffix[1:].lower() not in formats:
        raise UsageError(f"--plot {path}: the name must end in one of {', '.join(formats)}")


def write_json(path: str, facts: dict[str, Any]) -> None:
    """Write `facts` as indented JSON."""
    with _unwritable_in_a_sentence(path):
        Path(path).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def new_figure(width: float, height: float) -> Any:
    """A matplotlib figure of `width` by `height` inches that belongs to no window."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: Any, path: str) -> None:
    """Write the figure, in the format that the file's name ends in."""
    with _unwritable_in_a_sentence(path):
        figure.savefig(path, dpi=150)


@contextmanager
def _unwritable_in_a_sentence(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
