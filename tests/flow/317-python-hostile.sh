#!/bin/sh
# Programs in Python that give the module what it does not expect: values with code of their
# own, in the middle of a call; each goes on, and what it reports is right.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/python.sh
. "$ROOT/tests/flow/python.sh"

# hostile NAME: the program on standard input asserts what it must.
hostile() {
	{ printf 'import poolscope as ps\n\nps.open(quiet=True)\n'; cat; } >"$TMP/hostile.py"
	check "$1" timeout "$((60 * SLOW))" env "LD_PRELOAD=$PRELOAD" PYTHONMALLOC=debug "$PYTHON" "$TMP/hostile.py"
}

# ---- values
hostile "an array has methods that refuse it" <<'PY'
class Tensor:
    def __index__(self):
        raise TypeError("only integer tensors of a single element")

    def __float__(self):
        return 0.5


class Array(Tensor):
    def __float__(self):
        raise TypeError("only arrays of a single element")


with ps.span("step", loss=Tensor(), all=Array()) as span:
    span.set("loss", Tensor())
    ps.event("train", "loss", loss=Tensor(), all=Array())
PY
hostile "an exception of a signal in a value's code is not lost" <<'PY'
class Interrupted:
    def __float__(self):
        raise KeyboardInterrupt


for call in (lambda: ps.span("a", a=Interrupted()), lambda: ps.event("a", "b", a=Interrupted())):
    try:
        call()
    except KeyboardInterrupt:
        continue
    raise SystemExit("lost")
PY
hostile "a span whose attribute fails is not left begun" <<'PY'
class Fails:
    def __str__(self):
        raise ValueError


before = ps.traceparent()
try:
    with ps.span("fails", a=Fails()):
        raise SystemExit("begun")
except ValueError:
    pass
assert ps.traceparent() == before
PY
hostile "a value's code ends and begins the span it is given to" <<'PY'
class Ends:
    def __str__(self):
        if span:
            span.__exit__(None, None, None)
            span.__enter__()
        return "ended"


span = None
span = ps.span("span", a=Ends(), b=Ends())
with span:
    for i in range(40):
        span.set("b", Ends())
PY

# ---- spans
hostile "a span decorates a function and nothing else" <<'PY'
assert ps.span("a")(lambda: 1, **{})() == 1
try:
    ps.span("a")(lambda: 1, x=1)
except TypeError:
    pass
PY
hostile "a span that holds on to its owner is collected with it" <<'PY'
import gc
import weakref


class Owner:
    pass


owner = Owner()
owner.call = ps.span("call", owner=owner)(lambda: 1)
gone = weakref.ref(owner)
del owner
gc.collect()
assert gone() is None
PY
hostile "a task leaves a million spans behind" <<'PY'
import asyncio


async def task():
    for _ in range(1000000):
        ps.span("left").__enter__()


asyncio.run(task())
PY
