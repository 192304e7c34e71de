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

hostile "a generator's span ends before the one that it began in, or after it" <<'PY'
def loader(n):
    with ps.span("loader"):
        yield from range(n)


before = ps.traceparent()
for _ in range(3):
    batches = [loader(2), loader(3)]
    for _ in range(5):
        with ps.span("load"):
            for batch in batches:
                next(batch, None)
    assert ps.traceparent() == before
PY

# ---- samples
hostile "a value's code takes away what a sample was given" <<'PY'
class Clears:
    def __str__(self):
        labels.clear()
        return "a"


class Number(Clears):
    def __float__(self):
        units.clear()
        return 1.0


labels = {"label%d" % i: Clears() for i in range(8)}
units = {"number%d" % i: "unit%d" % i for i in range(8)}
ps.sample(labels=labels, units=units, **{"number%d" % i: Number() for i in range(8)})
assert not labels and not units
PY
hostile "an argument of a sample that is wrong is refused, and no text is" <<'PY'
import types

for wrong in (dict(a=1, counters=3), dict(a=1, labels=3), dict(a=1, labels={1: 2}), dict(a=1, units={"a": 3})):
    try:
        ps.sample(**wrong)
    except TypeError:
        continue
    raise SystemExit("not refused: %s" % wrong)
ps.sample(a=None, counters=3)
bad = "\udc80"
ps.sample(**{bad: 1}, labels={bad: bad}, units={bad: bad}, counters=(bad,))
ps.sample(a=1, labels=types.MappingProxyType({"b": 1}))
ps.event(bad, bad, **{bad: bad})
ps.past(1, 2, bad, bad, track=bad, **{bad: bad})
with ps.span(bad, bad, **{bad: bad}) as span:
    span.set(bad, bad)
counts = ps.stats()
assert counts["recorded"] == 5 and not counts["cut"], counts
PY

# ---- signals, interpreters
hostile "a flush that waits for long is interrupted" <<'PY'
import signal
import time

ps.event("a", "b")
for seconds in (60, 1e300, float("inf")):
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    began = time.monotonic()
    try:
        ps.flush(seconds)
    except KeyboardInterrupt:
        pass
    else:
        raise SystemExit("not interrupted")
    assert time.monotonic() - began < 20
assert not ps.flush(-1) and not ps.flush(float("nan"))
PY
program interrupted.py <<'PY'
import os
import signal
import threading

import poolscope as ps


class Interrupts:
    """A signal that arrives in a call of the module's own."""

    def __init__(self, of, name):
        self.of, self.name, self.was = of, name, getattr(of, name)
        setattr(of, name, self)

    def __call__(self, *args):
        setattr(self.of, self.name, self.was)
        signal.raise_signal(signal.SIGINT)
        return self.was(*args)


for first in Interrupts(os, "getppid"), Interrupts(threading, "current_thread"):
    try:
        ps.span("a").__enter__()
    except KeyboardInterrupt:
        continue
    raise SystemExit("lost: " + first.name)
with ps.span("b"):
    pass
assert ps.stats()["recorded"] == 1
PY
check "an interrupt in the first call goes on to the program, and the next call is the first" py -W error -X dev "$TMP/interrupted.py"
program "$(printf 'name\377.py')" <<'PY'
import poolscope as ps

ps.event("a", "b")
assert ps.stats()["recorded"] == 1
PY
check "a program whose name is no text" py "$TMP/$(printf 'name\377.py')"
hostile "an interpreter within the process ends" <<'PY'
try:
    import _xxsubinterpreters as interpreters

    one = interpreters.create(isolated=False)
except (ImportError, TypeError):
    import _interpreters as interpreters

    one = interpreters.create("legacy")
interpreters.run_string(one, "import poolscope as ps\nwith ps.span('within'): pass")
interpreters.destroy(one)
with ps.span("after"):
    pass
assert ps.stats()["recorded"] == 2
PY

# ---- what is stored
start_pool
program stored.py <<'PY'
import poolscope as ps

ps.sample(**{"n%d" % i: i for i in range(200)}, labels={"rank": 3}, counters=("n0",))
ps.sample(loss=1, labels={"long": "x" * 5000, "rank": 4})
ps.sample(loss=1, labels={"l%02d" % i: i for i in range(20)})
for number in (float("nan"), float("inf"), -float("inf"), 1e308, -0.0):
    ps.event("hostile", "number", number=number)
    ps.sample(hostile=number, counters=("hostile",))
    ps.sample(hostile=number, labels={"number": number})
    ps.counter("hostile").add(number)
    ps.gauge("hostile.gauge").set(number)
for moment in (0, -1, -(1 << 63), (1 << 63) - 1):
    ps.past(moment, moment, "moment")
    ps.past(moment, 5, "moment")
    ps.past(5, moment, "moment")
for text in (" ", "a\0b", "\n", "/", "a/b", "x" * 100000, "\u00fc" * 1000, "\U0001f600"):
    with ps.span(text, text, under=text, **{text: text}):
        ps.event(text, text, **{text: text})
    ps.past(1, 2, text, text, track=text)
    ps.sample(**{text: 1}, labels={text: text}, units={text: text})
assert ps.flush(20.0)
counts = ps.stats()
assert counts["sent"] == counts["recorded"] == 62 and counts["refused"] == 0, counts
PY
check "texts, numbers and times of every kind are stored" py "$TMP/stored.py"
settle
check_text "a sample keeps its labels behind too many numbers, and without one that is too long" \
	'1 {"rank":"4"}
128 {"rank":"3"}' "$(stored entity 'len(p["names"].replace("poolscope.boot", "").split()), p["labels"]' \
	'(p := r["properties"]).get("labels", "").startswith("{\"rank")' | sort)"
