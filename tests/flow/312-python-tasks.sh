#!/bin/sh
# Spans of tasks that take turns in one thread: each is within that of its own task, or of
# the one that made the task, and a trace has as many rows as tasks ran at once.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/python.sh
. "$ROOT/tests/flow/python.sh"
start_pool

# The tree and the lanes below are read off this program: a0, a1 and a2 begin before any of
# them ends, b begins when a2 is over, c is made by a task that ends before it.
program tasks.py <<'PY'
import asyncio
import threading

import poolscope as ps


@ps.span("inner")
async def inner(i):
    with ps.span("in%d" % i):
        await asyncio.sleep(0)
        ps.event("work", "of in%d" % i)
        assert ps.traceparent().split("-")[2] != "0" * 16


async def task(i, gate):
    with ps.span("a%d" % i) as span:
        await gate.wait()
        await inner(i)
        span.set("i", i)
        if i == 1:
            raise KeyError(i)


async def late(begun):
    await begun.wait()
    with ps.span("c"):
        await asyncio.sleep(0)


async def parent(begun):
    with ps.span("b"):
        return asyncio.create_task(late(begun))


async def main():
    gate, begun = asyncio.Event(), asyncio.Event()
    with ps.span("main"):
        tasks = [asyncio.create_task(task(i, gate)) for i in range(3)]
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        c = await asyncio.create_task(parent(begun))
        with ps.span("after"):
            begun.set()
            await c
        with ps.span("far", under="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"):
            await asyncio.sleep(0)
    slow = asyncio.create_task(sleeper())
    await asyncio.sleep(0)
    slow.cancel()
    await asyncio.gather(slow, return_exceptions=True)
    with ps.span("apart"):
        pass


async def sleeper():
    with ps.span("cancelled"):
        await asyncio.sleep(1000)


with ps.span("all"):
    asyncio.run(main())
thread = threading.Thread(target=lambda: asyncio.run(inner(9)), name="other")
thread.start()
thread.join()
assert ps.flush(20.0)
PY
check "tasks of asyncio" py "$TMP/tasks.py"
settle
check_text "each span is within that of its task" "a0 main
a1 main
a2 main
after main
all None
apart all
b main
c b
cancelled all
far None
in0 inner
in1 inner
in2 inner
in9 inner
inner None
inner a0
inner a1
inner a2
main all" "$(stored span 'r["name"], parent(r)' | sort)"
check_text "... on its lane" "a0 task 2
a1 task 3
a2 task 4
after task 1
all MainThread
apart task 1
b task 2
c task 2
cancelled task 1
far task 1
in0 task 2
in1 task 3
in2 task 4
in9 task 1
main task 1" "$(stored span 'r["name"], r["track"].partition("/")[2]' 'r["name"] != "inner"' | sort)"
check_text "... which no two of them share that do not enclose each other" 0 "$(stored span 'sum(
o["track"] == r["track"] and o["begin_ns"] < r["begin_ns"] < o["end_ns"] < r["end_ns"] for o in records)' | grep -vc '^0$')"
check_text "... with its exception and attributes" "a0 0 None
a1 1 KeyError
a2 2 None
cancelled None CancelledError" "$(stored span 'r["name"], a.get("i"), a.get("error")' 'r["name"] in ("a0", "a1", "a2", "cancelled")' | sort)"
spans=$(stored span 'a["span.id"], r["name"]')
check_text "events are of the task's span" "of in0 in0
of in1 in1
of in2 in2
of in9 in9" "$(stored event 'a["span.id"], r["name"]' 'r["source"] == "work"' |
	while read -r id name; do echo "$name $(echo "$spans" | sed -n "s/^$id //p")"; done | sort)"

# A generator's span begins within the first of three, and ends within the last one.
program generator.py <<'PY'
import asyncio

import poolscope as ps


def loader(n):
    with ps.span("loader"):
        yield from range(n)


async def main():
    with ps.span("epoch"):
        batches = loader(2)
        for _ in range(3):
            with ps.span("load"):
                next(batches, None)
        with ps.span("behind"):
            ps.past(10**9, 2 * 10**9, "past")
    with ps.span("alone"):
        pass


asyncio.run(main())
assert ps.flush(20.0)
PY
check "a generator in a task" py "$TMP/generator.py"
settle
check_text "... is over when it is over" "alone None
behind epoch
loader load
past behind" "$(stored span 'r["name"], parent(r)' 'r["name"] in ("alone", "behind", "loader", "past")' | sort)"
check_text "... and a span that is over is on the track of its task" "generator.py/task 1" \
	"$(stored span 'r["track"]' 'r["name"] == "past"')"

# As many rows as ran at once: ten at a time of a hundred.
program lanes.py <<'PY'
import asyncio
import gc
import weakref

import poolscope as ps


async def one(limit):
    async with limit:
        with ps.span("one"):
            await asyncio.sleep(0.001)


async def main():
    limit = asyncio.Semaphore(10)
    await asyncio.gather(*(one(limit) for _ in range(100)))
    # A task that nobody waits for leaves nothing behind.
    forgotten = weakref.ref(asyncio.ensure_future(never()))
    await asyncio.sleep(0)
    return forgotten


async def never():
    with ps.span("never"):
        await asyncio.get_running_loop().create_future()


forgotten = asyncio.run(main())
gc.collect()
assert forgotten() is None
assert ps.flush(20.0)
PY
check "a hundred tasks" py "$TMP/lanes.py"
settle
check_text "ten at once are ten rows" "100 10" \
	"$(stored span 'r["track"]' 'r["name"] == "one"' | sort | uniq -c | awk '{ n += $1; t++ } END { print n, t }')"

# Threads that run in a copy of a context go on within its span; those that do not, do not.
program threads.py <<'PY'
import asyncio
import concurrent.futures
import contextvars
import threading

import poolscope as ps


@ps.span("work")
def work(name):
    ps.event("work", name)
    with ps.span(name):
        ps.event("work", "in " + name)
        ps.past(10**9, 2 * 10**9, "past of " + name)
    return ps.traceparent()


def alone(name):
    with ps.span(name):
        return ps.traceparent()


def nothing():
    return ps.traceparent()


async def task(name):
    with ps.span("task " + name):
        inside = await asyncio.to_thread(nothing)
        assert inside == ps.traceparent(), (inside, ps.traceparent())
        await asyncio.to_thread(work, name)


async def main(loop, pool):
    await asyncio.gather(task("t0"), task("t1"))
    await asyncio.to_thread(work, "under all")
    with ps.span("copies"):
        context = contextvars.copy_context()
        await loop.run_in_executor(pool, context.run, work, "copied")
        await loop.run_in_executor(pool, alone, "not copied")
    await loop.run_in_executor(pool, context.run, alone, "later")
    await loop.run_in_executor(pool, alone, "free")


async def start(pool):
    await main(asyncio.get_running_loop(), pool)


with concurrent.futures.ThreadPoolExecutor(1, "pool") as pool:
    with ps.span("all"):
        asyncio.run(start(pool))
        with ps.span("behind"):
            pass
    with ps.span("sync"):
        pool.submit(contextvars.copy_context().run, alone, "of sync").result()
        pool.submit(contextvars.copy_context().run, ps.event, "work", "event of sync").result()
    pool.submit(contextvars.copy_context().run, alone, "over").result()


# A thread with a span of its own: what it does for another context is within that.
def worker(context):
    with ps.span("worker"):
        context.run(alone, "job")
        with ps.span("own"):
            pass


with ps.span("asks"):
    thread = threading.Thread(target=worker, args=(contextvars.copy_context(),), name="other")
    thread.start()
    thread.join()
assert ps.flush(20.0)
PY
check "threads in contexts" py "$TMP/threads.py"
settle
check_text "each span is within that of its context" "all None
asks None
behind all
copied work
copies all
free None
job asks
later copies
not copied None
of sync sync
over None
own worker
past of copied copied
past of t0 t0
past of t1 t1
past of under all under all
sync None
t0 work
t1 work
task t0 all
task t1 all
under all work
work all
work copies
work task t0
work task t1
worker None" "$(stored span 'r["name"], parent(r)' 'r["track"].startswith("threads.py")' | sort)"
check_text "... on the track of its thread" "pool_0 copied
pool_0 free
pool_0 later
pool_0 not copied
pool_0 of sync
pool_0 over" "$(stored span 'r["track"].partition("/")[2], r["name"]' '"/pool_0" in r["track"] and r["name"] not in ("work", "past of copied")' | sort)"
spans=$(stored span 'a["span.id"], r["name"]' 'r["track"].startswith("threads.py")')
check_text "... and so are events" "copied work
event of sync sync
in copied copied
in t0 t0
in t1 t1
in under all under all
t0 work
t1 work
under all work" "$(stored event 'a["span.id"], r["name"]' 'r["source"] == "work" and "of in" not in r["name"]' |
	while read -r id name; do echo "$name $(echo "$spans" | sed -n "s/^$id //p")"; done | sort)"
