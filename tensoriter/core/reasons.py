"""Why a call left a shorter path, in sentences for the people who read `explain` or an exception."""

import numpy as np

from tensoriter.core.arguments import Reason

# Each may name the operand that it speaks of as {operand}.
SENTENCES = {
    Reason.NO_REASON: "",
    Reason.POSITIONAL_COUNT: "the number of positional arguments does not fit",
    Reason.KEYWORD: "a keyword (such as signature=) is NumPy's alone",
    Reason.OUT_KIND: "{operand} is not a plain ndarray",
    Reason.WHERE_KIND: "where= is not a plain array of bools",
    Reason.WHERE_WITHOUT_OUT: "where= without out= leaves elements uninitialised, and NumPy warns of that",
    Reason.DTYPE_KIND: "dtype= is not a native numeric type",
    Reason.OPTION_VALUE: "the value of a keyword is not one that is understood here",
    Reason.OPERAND_TYPE: "{operand} is neither a plain ndarray nor a number",
    Reason.OPERAND_DTYPE: "{operand} has a dtype that is not numeric",
    Reason.NO_LOOP: "there is no loop of our own for these dtypes",
    Reason.SCALAR_RANGE: "{operand} is a Python integer out of the range of the result's dtype",
    Reason.CASTING_RULE: "the rule casting= does not let {operand} be cast",
    Reason.CAST_LEFT_TO_NUMPY: "{operand} needs a cast from floating point to integers or from complex to"
    " real, which is left to NumPy",
    Reason.MASKED_CAST: "where= with {operand} of another dtype than the loop's makes NumPy cast the old"
    " values of {operand}, too, and warn of them",
    Reason.MASKED_COMPLEX: "NumPy's own loops for complex numbers raise flags by how a mask cuts their runs",
    Reason.BROADCAST: "the operands' shapes do not broadcast together",
    Reason.OUT_SHAPE: "{operand} does not have the shape of the result",
    Reason.OUT_READ_ONLY: "{operand} is read-only",
    Reason.OUT_SELF_OVERLAP: "{operand} has elements that share memory with each other",
    Reason.TOO_LARGE: "the result has more elements than can be counted",
    Reason.FORCED: "force_path asks for it",
}

# Why a checked call takes longer than it would unchecked.
CHECKED_OUT = "checked integers come into out only when all of them fit"

# The exception types that NumPy answers the same reasons with.
VALUE_ERRORS = {Reason.BROADCAST, Reason.OUT_SHAPE, Reason.OUT_READ_ONLY, Reason.TOO_LARGE}


def operand_name(operand: int, nin: int, nout: int = 1) -> str:
    """'x1' for operand 0, 'x2', ..., then 'out', or 'out[0]', 'out[1]' where there are several."""
    if operand < nin:
        return f"x{operand + 1}"
    return "out" if nout == 1 else f"out[{operand - nin}]"


def refusal(reason: int, operand: int, call: str, nin: int, nout: int) -> Exception:
    """The exception for a call (so called) that tensoriter does not compute and NumPy does not have."""
    reason = Reason(reason)
    sentence = f"{call}: {SENTENCES[reason].format(operand=operand_name(operand, nin, nout))}"
    if reason in VALUE_ERRORS:
        return ValueError(sentence)
    if reason == Reason.SCALAR_RANGE:
        return OverflowError(sentence)
    return TypeError(sentence)


def reason_sentence(
    path: str, reason: int, operand: int, operands: tuple, keywords: dict, nin: int, nout: int
) -> str:
    """Why a call takes this path and not a shorter one; '' on the shortest."""
    if path == "contiguous":
        return ""
    if path == "numpy":
        return SENTENCES[Reason(reason)].format(operand=operand_name(operand, nin, nout))
    if nin > 2 or nout > 1:
        return "ops of three inputs and more or several outputs have no shorter path"
    return not_contiguous(operands[:nin], operands[nin:], keywords)


def not_contiguous(inputs: tuple, outputs: tuple, keywords: dict) -> str:
    """The first test of the short ways (core/iterator.pxd, core/short_ways.pxd) that these operands fail, in
    their order."""
    if outputs or keywords:
        return f"{next(iter(keywords), 'out')}= is given"
    named = [(f"x{k + 1}", x) for k, x in enumerate(inputs)]
    for name, x in named:
        if type(x) is not np.ndarray:
            kind = "NumPy" if isinstance(x, np.generic) else "Python"
            return f"{name} is a {kind} scalar of type {type(x).__name__}"
    if len({x.dtype.num for x in inputs}) > 1:
        return f"the dtypes differ: {' and '.join(str(x.dtype) for x in inputs)}"
    for test in (byte_order, alignment, contiguity):
        for name, x in named:
            sentence = test(x)
            if sentence:
                return f"{name} {sentence}"
    if len(inputs) == 2:
        sentence = difference(*inputs)
        if sentence:
            return sentence
    return f"the loop does not take {inputs[0].dtype} as it is"


def difference(x1: np.ndarray, x2: np.ndarray) -> str:
    """What is not the same about the order and the shape of two contiguous arrays; '' if all is."""
    alike = [x1.flags.c_contiguous and x2.flags.c_contiguous, x1.flags.f_contiguous and x2.flags.f_contiguous]
    if not any(alike):
        name, x = ("x2", x2) if x1.flags.c_contiguous else ("x1", x1)
        view = "a transposed view" if x.base is not None else "in Fortran order"
        return f"{name} is {view}: strides {x.strides}"
    if x1.shape != x2.shape:
        return f"the shapes {x1.shape} and {x2.shape} differ"
    return ""


def byte_order(x: np.ndarray) -> str:
    return "" if x.dtype.isnative else f"has its bytes swapped: dtype {x.dtype.str!r}"


def alignment(x: np.ndarray) -> str:
    return "" if x.flags.aligned else f"is misaligned: its data starts at address {x.ctypes.data}"


def contiguity(x: np.ndarray) -> str:
    """What keeps an array from being contiguous, by the sort of view that it is."""
    if x.flags.c_contiguous or x.flags.f_contiguous:
        return ""
    moving = [stride for stride, length in zip(x.strides, x.shape, strict=True) if length > 1]
    if 0 in moving:
        return f"is a broadcast view: strides {x.strides}"
    if min(moving) < 0:
        return f"is a reversed view: strides {x.strides}"
    if sorted(moving, reverse=True) != moving:
        return f"is a transposed view: strides {x.strides}"
    return f"is a view with gaps: strides {x.strides}"
