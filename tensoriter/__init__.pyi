from types import EllipsisType, TracebackType
from typing import Any, Literal, Protocol, TypedDict, final, overload

import numpy as np
import numpy.typing as npt

__version__: str
__all__ = ["Explanation", "Op", "TensorIterator", "add", "explain", "force_path", "free_list", "info",
           "operators"]

_Path = Literal["contiguous", "strided", "numpy"]
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
        x1: npt.ArrayLike,
        x2: npt.ArrayLike,
        /,
        out: _Array | tuple[_Array],
        *,
        where: npt.ArrayLike = ...,
        casting: _Casting = ...,
        order: _Order = ...,
        dtype: npt.DTypeLike = ...,
        subok: bool = ...,
        signature: str | tuple[npt.DTypeLike, ...] = ...,
        alpha: complex | np.number[Any] = ...,
    ) -> _Array: ...
    @overload
    def __call__(
        self,
        x1: npt.ArrayLike,
        x2: npt.ArrayLike,
        /,
        out: EllipsisType | None = ...,
        *,
        where: npt.ArrayLike = ...,
        casting: _Casting = ...,
        order: _Order = ...,
        dtype: npt.DTypeLike = ...,
        subok: bool = ...,
        signature: str | tuple[npt.DTypeLike, ...] = ...,
        alpha: complex | np.number[Any] = ...,
    ) -> Any: ...

    def bind(
        self, x1: npt.ArrayLike, x2: npt.ArrayLike, out: _Array | None = ...
    ) -> _BoundCall: ...

add: Op

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
    ) -> None: ...
    @property
    def path(self) -> _Path: ...
    @property
    def reason(self) -> str: ...
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

@final
class Explanation:
    path: _Path
    reason: str
    loop: str
    isa: str
    dtype: np.dtype[Any] | None
    shape: tuple[int, ...] | None
    cast: tuple[str, ...]
    copied: tuple[str, ...]

def explain(
    *operands: npt.ArrayLike | None,
    op: Op | None = ...,
    out: _Out = ...,
    where: npt.ArrayLike = ...,
    casting: _Casting = ...,
    order: _Order = ...,
    dtype: npt.DTypeLike = ...,
) -> Explanation: ...

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

def info() -> _Info: ...
