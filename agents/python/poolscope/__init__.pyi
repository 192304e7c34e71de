from collections.abc import Callable, Container, Mapping
from types import TracebackType
from typing import Any, Literal, SupportsFloat, TypedDict, TypeVar, final

from .store import Incomplete as Incomplete
from .store import Store as Store
from .store import StoreError as StoreError
from .table import Table as Table


_Function = TypeVar("_Function", bound=Callable[..., Any])

class _Stats(TypedDict):
    recorded: int
    dropped: int
    sent: int
    refused: int
    lost: int
    cut: int
    ring_bytes: int
    rings: int
    connected: bool

@final
class Span:
    def __enter__(self) -> Span: ...
    def __exit__(
        self,
        kind: type[BaseException] | None = ...,
        value: BaseException | None = ...,
        traceback: TracebackType | None = ...,
        /,
    ) -> Literal[False]: ...
    def __call__(self, function: _Function, /) -> _Function: ...
    def set(self, key: str, value: object, /) -> None: ...

@final
class Counter:
    def add(self, number: SupportsFloat, /) -> None: ...
    def set(self, number: SupportsFloat, /) -> None: ...

def span(name: str, category: str | None = None, /, *, under: str | None = None, **attributes: object) -> Span: ...
def past(
    begin_ns: int,
    end_ns: int,
    name: str,
    category: str | None = None,
    /,
    *,
    track: str | None = None,
    **attributes: object,
) -> None: ...
def event(source: str, name: str, /, **attributes: object) -> None: ...
def counter(name: str, unit: str | None = None) -> Counter: ...
def gauge(name: str, unit: str | None = None) -> Counter: ...
def sample(
    *,
    labels: Mapping[str, object] | None = None,
    units: Mapping[str, str] | None = None,
    counters: Container[str] = (),
    **numbers: SupportsFloat | None,
) -> None: ...
def traceparent() -> str: ...
def flush(seconds: float = 10.0, /) -> bool: ...
def stats() -> _Stats: ...
def open(
    program: str | None = None,
    pool: str | None = None,
    node: str | None = None,
    socket: str | None = None,
    ring_bytes: int = ...,
    total_bytes: int = ...,
    period: float = 0.05,
    counters: float = 1.0,
    quiet: bool = False,
) -> None: ...
def close() -> None: ...
