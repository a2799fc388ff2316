"""Reads operands, as those of `tensoriter explain`, whose --help has the grammar, and dtypes."""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

from tensoriter.commands import UsageError

ARRAY = re.compile(r"(?P<dtype>[^\[\]()]+)\[(?P<shape>[\d, ]*)\](?P<layout>.*)")
NUMPY_SCALAR = re.compile(r"(?P<dtype>\w+)\((?P<value>.*)\)")
SUFFIX = re.compile(r"(?P<slices>::-?\d+(?:,::-?\d+)*)|:(?P<name>[A-Za-z]+)")


def make_operand(text: str) -> Any:
    """The array, NumPy scalar or Python scalar that `text` describes.

    >>> make_operand("float32[3,4]:T").shape
    (4, 3)
    >>> make_operand("2.5")
    2.5
    >>> make_operand("int8(1)")
    np.int8(1)
    """
    if "[" in text:
        return make_array(text)
    scalar = NUMPY_SCALAR.fullmatch(text)
    if scalar:
        return read_dtype(scalar["dtype"]).type(read_literal(scalar["value"]))
    return read_literal(text)


def make_array(text: str) -> np.ndarray:
    """The array of zeros that `text` describes, laid out as its suffixes say."""
    parts = ARRAY.fullmatch(text.strip())
    if not parts:
        raise UsageError(f"{text!r} is no array: write dtype[shape], as float32[100]")
    shape = tuple(int(length) for length in parts["shape"].replace(",", " ").split())
    try:
        array = np.zeros(shape, read_dtype(parts["dtype"]))
    except (MemoryError, ValueError) as error:
        raise UsageError(f"{text!r}: {error}") from None
    for suffix in split_layout(parts["layout"], text):
        try:
            array = lay_out(array, suffix)
        except (ValueError, IndexError, KeyError):
            raise UsageError(f"{text!r}: {suffix[0]!r} cannot be applied, see --help") from None
    return array


def numeric_dtype(text: str) -> np.dtype[Any]:
    """The dtype that an option --dtype names: bool or a number."""
    try:
        dtype = np.dtype(text)
    except TypeError as error:
        raise UsageError(f"--dtype: {error}") from None
    if dtype.kind not in "biufc":  # bool's kind is "b", int8's "i"
        raise UsageError(f"--dtype must be bool or numeric, {dtype} is not")
    return dtype


def split_layout(layout: str, text: str) -> list[re.Match[str]]:
    """The suffixes in `layout`, in order; `text` is the whole operand, for the error."""
    suffixes = list(SUFFIX.finditer(layout))
    if "".join(suffix[0] for suffix in suffixes) != layout:
        raise UsageError(f"{text!r}: cannot read the layout {layout!r}, see --help")
    return suffixes


def lay_out(array: np.ndarray, suffix: re.Match[str]) -> np.ndarray:
    """Apply one suffix; KeyError for a name that is none."""
    if suffix["slices"]:
        steps = re.findall(r"-?\d+", suffix["slices"])
        return array[tuple(slice(None, None, int(step)) for step in steps)]
    return LAYOUTS[suffix["name"]](array)


def misaligned(array: np.ndarray) -> np.ndarray:
    """An array of the same shape and strides that starts one byte past an aligned address."""
    low, high = np.lib.array_utils.byte_bounds(array)
    room = np.zeros(high - low + 1, np.uint8)
    start = array.__array_interface__["data"][0] - low + 1
    return np.ndarray(array.shape, array.dtype, room, start, array.strides)


def readonly(array: np.ndarray) -> np.ndarray:
    """A view that may not be written."""
    view = array.view()
    view.flags.writeable = False
    return view


LAYOUTS = {
    "F": np.asfortranarray,
    "T": np.transpose,
    "misaligned": misaligned,
    "readonly": readonly,
}


def read_dtype(text: str) -> np.dtype[Any]:
    """The dtype of that name, in a sentence if there is none."""
    try:
        return np.dtype(text.strip())
    except TypeError as error:
        raise UsageError(str(error)) from None


def read_literal(text: str) -> Any:
    """A Python scalar as Python writes it."""
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        value = None
    if not isinstance(value, (bool, int, float, complex)):
        raise UsageError(f"{text!r} is neither an array, as float32[100], nor a number")
    return value
