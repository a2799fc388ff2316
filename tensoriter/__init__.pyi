from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from types import EllipsisType, TracebackType
from typing import (
    Any,
    Concatenate,
    Generic,
    Literal,
    NamedTuple,
    ParamSpec,
    Protocol,
    SupportsIndex,
    TypedDict,
    TypeVar,
    final,
    overload,
)

import numpy as np
import numpy.typing as npt

from tensoriter import profiler as profiler
from tensoriter.graph.graph import Graph

__version__: str
__all__ = [
    "CaptureError", "Explanation", "Op", "TensorIterator", "capture", "checked", "explain", "force_path",
    "free_list", "get_include", "info", "load_plan", "num_threads", "operators", "parallel_ops", "profiler",
    "set_num_threads", "threads",
    "abs", "absolute", "acos", "acosh", "add", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
    "arctanh", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_count", "bitwise_invert",
    "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "cbrt", "ceil",
    "conj", "conjugate", "copysign", "cos", "cosh", "deg2rad", "degrees", "divide", "divmod", "equal", "exp",
    "exp2", "expm1", "fabs", "float_power", "floor", "floor_divide", "fmax", "fmin", "fmod", "frexp", "gcd",
    "greater", "greater_equal", "heaviside", "hypot", "invert", "isfinite", "isinf", "isnan", "isnat", "lcm",
    "ldexp", "left_shift", "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp", "logaddexp2",
    "logical_and", "logical_not", "logical_or", "logical_xor", "matmul", "matvec", "maximum", "minimum",
    "mod", "modf", "multiply", "negative", "nextafter", "not_equal", "positive", "pow", "power", "rad2deg",
    "radians", "reciprocal", "remainder", "right_shift", "rint", "sign", "signbit", "sin", "sinh", "spacing",
    "sqrt", "square", "subtract", "tan", "tanh", "true_divide", "trunc", "vecdot", "vecmat",
]

_Path = Literal["contiguous", "strided", "numpy", "plan"]
_Casting = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
_Order = Literal["K", "A", "C", "F"]
_Array = npt.NDArray[Any]
_Out = _Array | tuple[_Array | None, ...] | None

class _Method(Protocol):
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

@final
class Op:
    __name__: str
    @property
    def ufunc(self) -> np.ufunc: ...
    @property
    def nin(self) -> int: ...
    @property
    def nout(self) -> int: ...
    @property
    def nargs(self) -> int: ...
    @property
    def ntypes(self) -> int: ...
    @property
    def types(self) -> list[str]: ...
    @property
    def identity(self) -> Any: ...
    @property
    def signature(self) -> str | None: ...
    @property
    def reduce(self) -> _Method: ...
    @property
    def accumulate(self) -> _Method: ...
    @property
    def outer(self) -> _Method: ...
    @property
    def at(self) -> _Method: ...
    @property
    def reduceat(self) -> _Method: ...
    @property
    def resolve_dtypes(self) -> _Method: ...
    @overload
    def __call__(
        self,
        *operands: npt.ArrayLike | EllipsisType | None,
        out: _Array,
        where: npt.ArrayLike = ...,
        casting: _Casting = ...,
        order: _Order = ...,
        dtype: npt.DTypeLike = ...,
        subok: bool = ...,
        signature: str | tuple[npt.DTypeLike, ...] = ...,
        alpha: complex | np.number[Any] = ...,
        checked: bool | None = ...,
    ) -> _Array: ...
    @overload
    def __call__(
        self,
        *operands: npt.ArrayLike | EllipsisType | None,
        out: tuple[_Array | None, ...] | EllipsisType | None = ...,
        where: npt.ArrayLike = ...,
        casting: _Casting = ...,
        order: _Order = ...,
        dtype: npt.DTypeLike = ...,
        subok: bool = ...,
        signature: str | tuple[npt.DTypeLike, ...] = ...,
        alpha: complex | np.number[Any] = ...,
        checked: bool | None = ...,
        **generalized: Any,
    ) -> Any: ...
    @staticmethod
    def from_ufunc(ufunc: Any, *, unsupported: Literal["refuse", "numpy"] = ...) -> Op: ...
    @staticmethod
    def from_loops(
        name: str,
        loops: Mapping[str | tuple[npt.DTypeLike, ...], Any],
        *,
        nin: int | None = ...,
        doc: str = ...,
    ) -> Op: ...
    def bind(
        self, x1: npt.ArrayLike, x2: npt.ArrayLike, out: _Array | None = ...
    ) -> _BoundCall: ...

# NumPy's ufuncs. Names that the installed NumPy does not have are absent here, too.
abs: Op
absolute: Op
acos: Op
acosh: Op
add: Op
arccos: Op
arccosh: Op
arcsin: Op
arcsinh: Op
arctan: Op
arctan2: Op
arctanh: Op
asin: Op
asinh: Op
atan: Op
atan2: Op
atanh: Op
bitwise_and: Op
bitwise_count: Op
bitwise_invert: Op
bitwise_left_shift: Op
bitwise_not: Op
bitwise_or: Op
bitwise_right_shift: Op
bitwise_xor: Op
cbrt: Op
ceil: Op
conj: Op
conjugate: Op
copysign: Op
cos: Op
cosh: Op
deg2rad: Op
degrees: Op
divide: Op
divmod: Op
equal: Op
exp: Op
exp2: Op
expm1: Op
fabs: Op
float_power: Op
floor: Op
floor_divide: Op
fmax: Op
fmin: Op
fmod: Op
frexp: Op
gcd: Op
greater: Op
greater_equal: Op
heaviside: Op
hypot: Op
invert: Op
isfinite: Op
isinf: Op
isnan: Op
isnat: Op
lcm: Op
ldexp: Op
left_shift: Op
less: Op
less_equal: Op
log: Op
log10: Op
log1p: Op
log2: Op
logaddexp: Op
logaddexp2: Op
logical_and: Op
logical_not: Op
logical_or: Op
logical_xor: Op
matmul: Op
matvec: Op
maximum: Op
minimum: Op
mod: Op
modf: Op
multiply: Op
negative: Op
nextafter: Op
not_equal: Op
positive: Op
pow: Op
power: Op
rad2deg: Op
radians: Op
reciprocal: Op
remainder: Op
right_shift: Op
rint: Op
sign: Op
signbit: Op
sin: Op
sinh: Op
spacing: Op
sqrt: Op
square: Op
subtract: Op
tan: Op
tanh: Op
true_divide: Op
trunc: Op
vecdot: Op
vecmat: Op

@final
class _BoundCall:
    @overload
    def __call__(self) -> _Array: ...
    @overload
    def __call__(self, x1: npt.ArrayLike, x2: npt.ArrayLike, /) -> Any: ...

class _FreeListInfo(TypedDict):
    hits: int
    misses: int
    entries: int
    bytes: int
    large_entries: int
    large_bytes: int

class _FreeListLimits(TypedDict):
    entries: int
    bytes: int
    large_entries: int
    large_bytes: int

@final
class _FreeList:
    enabled: bool
    def info(self) -> _FreeListInfo: ...
    def clear(self) -> None: ...
    def limit(
        self,
        *,
        entries: int | None = ...,
        bytes: int | None = ...,
        large_entries: int | None = ...,
        large_bytes: int | None = ...,
    ) -> _FreeListLimits: ...

free_list: _FreeList

@final
class TensorIterator:
    def __init__(
        self,
        *operands: npt.ArrayLike | None,
        op: Op | None = ...,
        out: _Out = ...,
        where: npt.ArrayLike = ...,
        casting: _Casting = ...,
        order: _Order = ...,
        dtype: npt.DTypeLike = ...,
        checked: bool | None = ...,
    ) -> None: ...
    @property
    def path(self) -> _Path: ...
    @property
    def reason(self) -> str: ...
    @property
    def loop(self) -> str: ...
    @property
    def dtype(self) -> np.dtype[Any] | None: ...
    @property
    def shape(self) -> tuple[int, ...] | None: ...
    @property
    def ndim(self) -> int | None: ...
    @property
    def size(self) -> int | None: ...
    @property
    def dims(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[tuple[int, ...], ...]: ...
    @property
    def cast(self) -> tuple[tuple[str, str] | None, ...]: ...
    @property
    def overlap(self) -> bool: ...
    @property
    def colliding(self) -> tuple[int, ...]: ...
    @property
    def tile(self) -> tuple[int, int] | None: ...
    @property
    def columns(self) -> tuple[int, ...]: ...
    @property
    def streamed(self) -> bool: ...
    @property
    def threads(self) -> int: ...

class Explanation(NamedTuple):
    path: _Path
    reason: str
    loop: str
    isa: str
    dtype: np.dtype[Any] | None
    shape: tuple[int, ...] | None
    cast: tuple[str, ...]
    copied: tuple[str, ...]
    walk: tuple[str, ...]

def explain(
    *operands: npt.ArrayLike | None,
    op: Op | None = ...,
    out: _Out = ...,
    where: npt.ArrayLike = ...,
    casting: _Casting = ...,
    order: _Order = ...,
    dtype: npt.DTypeLike = ...,
    checked: bool | None = ...,
) -> Explanation: ...

@final
class checked:
    on: bool
    def __init__(self, on: bool = ...) -> None: ...
    def __enter__(self) -> checked: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

@final
class force_path:
    def __init__(self, path: Literal["strided", "numpy"]) -> None: ...
    def __enter__(self) -> force_path: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

@final
class _Operators:
    def __call__(self) -> _Operators: ...
    def __enter__(self) -> _Operators: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
    def enable(self) -> None: ...
    def disable(self) -> None: ...
    @property
    def enabled(self) -> bool: ...

operators: _Operators

class _Info(TypedDict):
    tensoriter: str
    numpy: str
    python: str
    platform: str
    isa: str
    isa_built: tuple[str, ...]
    threads: int
    cpus: int | None

class CaptureError(TypeError): ...

class _Plan(Protocol):
    graph: Graph
    def __call__(self, *arrays: Any, out: Any = ...) -> Any: ...
    def save(self, file: str | PathLike[str], *, debug: bool = ...) -> None: ...

_P = ParamSpec("_P")
_Q = ParamSpec("_Q")
_R_co = TypeVar("_R_co", covariant=True)
_S = TypeVar("_S")
_Pass = Callable[[Graph], Graph]

class _Captured(Generic[_P, _R_co]):
    __name__: str
    __wrapped__: Callable[_P, _R_co]
    function: Callable[_P, _R_co]
    fallback: bool
    @property
    def graph(self) -> Graph | None: ...
    def plan(self, *args: Any, **kwargs: Any) -> _Plan: ...
    @overload
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R_co: ...
    @overload
    def __call__(self, *args: Any, out: Any, **kwargs: Any) -> _R_co: ...
    @overload
    def __get__(self, instance: None, owner: type) -> _Captured[_P, _R_co]: ...
    @overload
    def __get__(
        self: _Captured[Concatenate[_S, _Q], _R_co], instance: _S, owner: type | None = ...
    ) -> _Captured[_Q, _R_co]: ...

@overload
def capture(
    function: Callable[_P, _R_co],
    *,
    fallback: bool = ...,
    passes: Sequence[_Pass] | None = ...,
    parallel_ops: _ParallelOps | bool | None = ...,
) -> _Captured[_P, _R_co]: ...
@overload
def capture(
    function: None = ...,
    *,
    fallback: bool = ...,
    passes: Sequence[_Pass] | None = ...,
    parallel_ops: _ParallelOps | bool | None = ...,
) -> Callable[[Callable[_P, _R_co]], _Captured[_P, _R_co]]: ...

class _ParallelOps(Protocol):
    @property
    def threshold(self) -> int: ...
    @property
    def allow(self) -> frozenset[str]: ...
    @property
    def deny(self) -> frozenset[str]: ...
    @property
    def least_work(self) -> float: ...
    @property
    def most_work(self) -> float: ...
    @property
    def verbose(self) -> int: ...

@final
class parallel_ops:
    settings: _ParallelOps | None
    def __init__(
        self,
        on: bool = ...,
        *,
        threshold: int = ...,
        allow: frozenset[str] = ...,
        deny: frozenset[str] = ...,
        least_work: float = ...,
        most_work: float = ...,
        verbose: int = ...,
    ) -> None: ...
    def __enter__(self) -> parallel_ops: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

def get_include() -> str: ...
def info() -> _Info: ...

def num_threads() -> int: ...
def set_num_threads(n: SupportsIndex) -> None: ...

@final
class threads:
    n: int
    def __init__(self, n: SupportsIndex) -> None: ...
    def __enter__(self) -> threads: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
def load_plan(file: str | PathLike[str]) -> _Plan: ...
