"""poolscope - spans, events and numbers of a program, for the agent of this host.

    import poolscope as ps

    with ps.span("step", "train", step=i) as s:
        s.set("loss", loss)

poolscope-python(7) has the rest.  Nothing here fails for want of an agent.
SPDX-License-Identifier: MIT
"""
import atexit
import contextvars
import io
import os
import sys

from . import _native
from ._native import Counter, Span, close, event, flush, past, sample, span, stats, traceparent

__all__ = ["Counter", "Span", "close", "counter", "event", "flush", "gauge", "open", "past", "sample",
           "span", "stats", "traceparent"]

_current = contextvars.ContextVar("poolscope.span", default=None)  # of a task


def counter(name, unit=None):
    """The number of this name, which only grows, published when it has changed; unit as in UCUM."""
    return _native.counter(name, unit, False)


def gauge(name, unit=None):
    """The same of a number that also falls."""
    return _native.counter(name, unit, True)


def open(program=None, pool=None, node=None, socket=None, ring_bytes=1 << 20, total_bytes=128 << 20,
         period=0.05, counters=1.0, quiet=False):
    """Start with these options, or go on with others; without it the first call starts."""
    if _is_fork():
        _native.is_child()
    _native.open(program or _program(), socket, pool, node, ring_bytes, total_bytes, period, counters, quiet)


def _is_fork():
    """Did our parent fork us before we were imported?  Then its stack begins where ours does."""
    stacks = []
    try:
        for pid in os.getpid(), os.getppid():
            with io.open("/proc/%d/stat" % pid, errors="replace") as file:
                stacks.append(file.read().rpartition(")")[2].split()[25])
    except (OSError, IndexError):
        return False
    return stacks[0] == stacks[1] != "0"


def _program():
    """What a person calls this program: of python -m the module, else the script."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    if spec is not None and spec.name:
        return spec.name[: -len(".__main__")] if spec.name.endswith(".__main__") else spec.name
    name = os.path.basename(sys.argv[0]) if getattr(sys, "argv", None) else ""
    name = name.encode("utf-8", "replace").decode()  # a file's name may be any bytes
    return name if name not in ("", "-c", "-") else "python"


def _thread_name():
    """Of the calling thread's track."""
    threading = sys.modules.get("threading")
    return threading.current_thread().name if threading else "MainThread"


def _wrap(span, function):
    """The function within a span at each call."""
    import functools

    if not callable(function):
        raise TypeError("a span decorates a function")
    flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
    if flags & 0x220:  # CO_GENERATOR, CO_ASYNC_GENERATOR
        raise TypeError("a span of a generator: write `with poolscope.span(...)` in it")
    again = span._again
    if flags & 0x180:  # CO_COROUTINE, CO_ITERABLE_COROUTINE
        @functools.wraps(function)
        async def wrapper(*args, **kwargs):
            with again():
                return await function(*args, **kwargs)
    else:
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with again():
                return function(*args, **kwargs)
    return wrapper


def _end():
    """At the end of a process: send the rest."""
    counts = stats()
    close()
    if counts["dropped"]:
        print("poolscope: %d of %d records were dropped: they did not fit in %d KiB (ring_bytes of open)"
              % (counts["dropped"], counts["recorded"], counts["ring_bytes"] // max(counts["rings"], 1) >> 10),
              file=sys.stderr)


def _end_child():
    """A process of multiprocessing ends by os._exit: its finalizers are all that runs."""
    _native.is_child()
    sys.modules["multiprocessing.util"].Finalize(None, _end, exitpriority=-100)


def _forked():
    """In the child of a fork.  If that is one of multiprocessing, it now clears its list
    of finalizers and calls what is registered here."""
    _native.is_child()
    util = sys.modules.get("multiprocessing.util")
    if util:
        util.register_after_fork(_forked, lambda _: _end_child())


def _start():
    if _native.init(_wrap, open, _thread_name, _current.get, _current.set,
                    os.environ.get("POOLSCOPE_DISABLE", "0") not in ("", "0")):
        atexit.register(_end)  # others are within the main interpreter
    os.register_at_fork(after_in_child=_forked)
    process = sys.modules.get("multiprocessing.process")
    if process and "multiprocessing.util" in sys.modules and process.current_process().name != "MainProcess":
        # A child that was spawned.  It imports us before or after it clears that list.
        if process.parent_process() is not None:
            _end_child()
        _forked()


def __getattr__(name):
    """What reads a store costs time to import: only when it is asked for."""
    if name in ("Incomplete", "Store", "StoreError", "Table"):
        from . import store

        return getattr(store, name)
    raise AttributeError("module 'poolscope' has no attribute %r" % name)


_start()
