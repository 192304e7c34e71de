#!/bin/sh
# The Python module with a real pool: what a program reports is stored as it was reported, and a
# program that finds no agent, or is not to be measured, goes on.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/python.sh
. "$ROOT/tests/flow/python.sh"

# ---- without an agent
program alone.py <<'PY'
import poolscope as ps

with ps.span("step"):
    ps.event("work", "begun")
PY
check "a program runs without an agent" py "$TMP/alone.py"
check_printed "... and the message says so" "no agent"
check_text "... once" 1 "$(grep -c "no agent" "$TMP/err")"
check "an import alone says nothing" py -c 'import poolscope'
check_text "... at all" 0 "$(cat "$TMP/out" "$TMP/err" | wc -c)"

# ---- with a pool
start_pool
program tour.py <<'PY'
import asyncio
import enum
import threading

import poolscope as ps


class Colour(enum.Enum):
    RED = 1


class Ratio:
    def __float__(self):
        return 0.5


class Index:
    def __index__(self):
        return 6


with ps.span("step", "train", step=7, rate=0.25, last=True, who="Zoë", none=None,
             big=1 << 70, ratio=Ratio(), index=Index(), colour=Colour.RED, bad="\udc80") as span:
    span.set("loss", 1.5)
    span.set("step", 8)
    ps.event("train", "epoch", n=3, none=None, what="first")
    with ps.span("within"):
        inside = ps.traceparent()
try:
    with ps.span("fails"):
        raise KeyError("x")
except KeyError:
    pass


@ps.span("load", "io", kind="plain")
def load(x, by=1):
    """It loads."""
    return x + by if x < 3 else load(x - 1, by)


assert (load(1), load(3, by=2), load.__name__, load.__doc__) == (2, 4, "load", "It loads.")


class Loader:
    @ps.span("method")
    def load(self):
        return self


loader = Loader()
assert loader.load() is loader


@ps.span("coroutine")
async def later(x):
    await asyncio.sleep(0)
    return x + 1


assert asyncio.run(later(1)) == 2
with ps.span("far", under="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"):
    pass
with ps.span("apart", under="nonsense"):
    pass
thread = threading.Thread(target=load, args=(1,), name="loader")
thread.start()
thread.join()
ps.counter("counted", "By").add(512)
ps.counter("counted").add(1)
ps.counter("counted").add(-3)
ps.counter("counted").set(2)
ps.gauge("queue.length").set(17)
ps.sample(loss=0.5, lr=1e-4, labels={"rank": 3, "who": "Zoë", "none": None})
ps.sample(tokens=512, loss=None, steps=2, units={"tokens": "{token}"}, counters=("tokens",))
ps.past(5 * 10**9, 7 * 10**9, "past", "done", track="elsewhere", n=1)
assert ps.flush(20.0)
print(inside)
print(ps.stats()["recorded"], ps.stats()["dropped"], ps.stats()["connected"])
for wrong in (lambda: ps.span(), lambda: ps.span(3), lambda: ps.span("a", 3), lambda: ps.event("a"),
              lambda: ps.span("a")(3), lambda: span.set("a"), lambda: ps.Span(), lambda: ps.counter("a").add("x"), lambda: ps.sample(a="x"), lambda: ps.sample(a=1, labels=3),
              lambda: ps.past(1, 2), lambda: ps.past("a", 2, "b")):
    try:
        wrong()
    except TypeError:
        continue
    raise SystemExit("not refused")
try:
    @ps.span("generator")
    def numbers():
        yield 1
except TypeError as e:
    print(e)
ps.close()
with ps.span("too late"):
    ps.event("too", "late")
PY
check "one of everything" py "$TMP/tour.py"
cp "$TMP/out" "$TMP/tour"
settle
check_text "a span has what it was given, the last of a key counts" \
	'step train {"bad": "?", "big": 1.1805916207174113e+21, "colour": "Colour.RED", "index": 6, "last": true, "loss": 1.5, "rate": 0.25, "ratio": 0.5, "step": 8, "who": "Zo\u00eb"}' \
	"$(stored span 'r["name"], r["category"], json.dumps({k: v for k, v in a.items() if "." not in k}, sort_keys=True)' 'r["name"] == "step"')"
check_text "an event, too, and it is of its span" "train epoch 3 first True" \
	"$(stored event 'r["source"], r["name"], a["n"], a["what"], "none" not in a' 'r["source"] == "train"')"
check_text "spans are within each other" "coroutine None
far None
within step" "$(stored span 'r["name"], parent(r)' 'r["name"] in ("within", "coroutine", "far")' | sort)"
check_text "... and the context says so" \
	"$(sed -n '1s/^00-\([0-9a-f]\{32\}\)-\([0-9a-f]\{16\}\)-01$/\1 \2/p' "$TMP/tour")" \
	"$(stored span 'a["trace.id"], a["span.id"]' 'r["name"] == "within"')"
check_text "an exception is an attribute" KeyError "$(stored span 'a["error"]' 'r["name"] == "fails"')"
check_text "a decorated function has a span for each call" "4 io plain" \
	"$(stored span 'r["category"], a["kind"]' 'r["name"] == "load"' | sort | uniq -c | sed 's/^ *//')"
check_text "... and one that calls itself is within itself" 1 \
	"$(stored span 'parent(r)' 'r["name"] == "load"' | grep -c load)"
check_text "... and so has a method" method "$(stored span 'r["name"]' 'r["name"] == "method"')"
check_text "a span goes on with another program's trace" \
	"0af7651916cd43dd8448eb211c80319c b7ad6b7169203331" \
	"$(stored span 'a["trace.id"], a["parent.id"]' 'r["name"] == "far"')"
check_text "... and nonsense begins a new one" "True False" \
	"$(stored span 'a["trace.id"] != records[0]["attributes"]["trace.id"], "parent.id" in a' 'r["name"] == "apart"')"
check_text "tracks are named after script and thread, or task" "tour.py/MainThread
tour.py/elsewhere
tour.py/loader
tour.py/task 1" "$(stored span 'r["track"]' 'r["track"].startswith("tour")' | sort -u)"
check_text "a counter only grows, from 0; a gauge is as it was set" "counted,By,0.0
counted,By,513.0
queue.length,,17.0" "$(poolscope-dump -p "$pool" --kind sample --format long -q |
	tr -d '\r' | grep -E ',(counted|queue.length),' | cut -d, -f6- | sort)"
check_text "... a counter has rates" "counted By/s
queue.length " "$(poolscope-stats samples -p "$pool" -m counted -m queue.length --format csv |
	awk -F, 'NR > 1 { print $2, $4 }' | sort)"
check_text "numbers of one moment, with labels" '{"rank":"3","who":"Zoë"} loss lr None gauge gauge [0.5, 0.0001]
None poolscope.boot tokens steps 1 {token} gauge counter gauge [512.0, 2.0]' \
	"$(poolscope-dump -p "$pool" --format jsonl -q | /usr/bin/python3 -c 'import json, sys
records = [json.loads(line) for line in sys.stdin]
for r in records:
    for e in records:
        if r["kind"] == "sample" and e.get("id") == r["set"] and " " in e["properties"]["names"] and r["set"] != "clock" and "counted" not in e["properties"]["names"]:
            p = e["properties"]
            print(p.get("labels"), p["names"], p.get("units"), p["types"], r["values"][-2:])')"
check_text "a span that is over" "tour.py/elsewhere done 5000000000 7000000000 1" \
	"$(stored span 'r["track"], r["category"], r["begin_ns"], r["end_ns"], a["n"]' 'r["name"] == "past"')"
check_text "nothing was dropped, and nothing is recorded too late" "15 0 True 0" \
	"$(sed -n 2p "$TMP/tour") $(stored span 'r["name"]' 'r["name"] == "too late"' | wc -l)"
check_text "a generator is refused with what to write" 1 "$(grep -c 'with poolscope.span' "$TMP/tour")"

# Three processes at once, and one after them: the first of them is like one that is alone.
program workers.py <<'PY'
import os

import poolscope as ps

counter = ps.counter("handled")
counter.add(1000)
assert ps.flush(20.0)
go, hold = os.pipe()
children = []
for n in (20, 300):
    ready, done = os.pipe()
    children.append(os.fork())
    if children[-1] == 0:
        os.close(hold)
        for _ in range(n):
            counter.add(1)
        assert ps.flush(20.0)
        os.write(done, b"x")
        os.read(go, 1)
        os._exit(0)
    os.read(ready, 1)
counter.add(1)
assert ps.flush(20.0)
os.close(hold)
assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
counter.add(1)
PY
check "processes of a program count at once" py "$TMP/workers.py"
check "... and one after them" py -c 'import poolscope as ps
ps.open(program="workers.py")
ps.counter("handled").add(7)
ps.close()
ps.open(program="workers.py")
ps.counter("handled").add(1)'
settle
check_text "... each into a series of its own" ',0.0 ,1000.0 ,1001.0 ,1002.0 ,0.0 ,7.0 ,8.0
1,0.0 1,20.0
2,0.0 2,300.0' "$(poolscope-dump -p "$pool" --kind sample --format long -q | tr -d '\r' | grep ',handled,' |
	sed 's/.*workers.py[^,]*,//; s/[^0-9]*\([0-9]*\)[^,]*,handled,/\1/' |
	awk -F, '{ at[$1] = at[$1] " " $1 "," $NF } END { for (p in at) print substr(at[p], 2) }' | sort)"

# The second of two processes ends before the third, which was there before it counted, counts.
program takers.py <<'PY'
import os

import poolscope as ps

counter = ps.counter("taken")
counter.add(1)
assert ps.flush(20.0)
ready, done = os.pipe()
after, go = os.pipe()
second = os.fork()
if second == 0:
    counter.add(10)
    assert ps.flush(20.0)
    third = os.fork()
    if third == 0:
        os.close(go)
        os.write(done, b"x")
        os.read(after, 1)
        counter.add(5)
        assert ps.flush(20.0)
        os.write(done, b"x")
        os._exit(0)
    os.read(ready, 1)
    counter.add(10)
    assert ps.flush(20.0)
    os._exit(0)
assert os.waitpid(second, 0)[1] == 0
os.write(go, b"x")
os.read(ready, 1)
PY
check "a process that counts when another has ended" py "$TMP/takers.py"
settle
check_text "... begins after it" '1,0.0 1,10.0 1,20.0 1,0.0 1,5.0' "$(poolscope-dump -p "$pool" --kind sample --format jsonl -q |
	/usr/bin/python3 -c 'import json, sys
rows = [json.loads(line) for line in sys.stdin]
of = sorted((r["time_ns"], r["values"][-1]) for r in rows if "takers.py" in r["set"] and "process" in json.dumps(r.get("labels", "")))
print(*("1,%s" % value for _, value in of))')"

# ---- names of programs
mkdir -p "$TMP/package/inner"
printf 'import poolscope as ps\nwith ps.span("named"): pass\n' >"$TMP/package/inner/__main__.py"
touch "$TMP/package/inner/__init__.py"
check "a program is a module" env -C "$TMP/package" "LD_PRELOAD=$PRELOAD" "$PYTHON" -m inner
check "... or a text" py -c 'import poolscope as ps
with ps.span("named"): pass'
check "... or has a name" py -c 'import poolscope as ps
ps.open(program="given", node="node2", pool="acct/other")
with ps.span("named"): pass
ps.open(program="then")
with ps.span("named"): pass'
settle
check_text "each is called by it" "inner/MainThread node1
python/MainThread node1
then/MainThread node1" "$(stored span 'r["track"], r["node"]' 'r["name"] == "named"' | sort)"
check_text "... also in another pool, of another node" "given/MainThread node2" \
	"$(pool='acct$other' stored span 'r["track"], r["node"]')"
check_status 1 "a pool that cannot be is refused" py -c 'import poolscope as ps
ps.open(pool="pool")'
check_printed "... with the reason" "Invalid argument"
check "... but not by what a user set" env POOLSCOPE_PARTITION=pool "LD_PRELOAD=$PRELOAD" "$PYTHON" "$TMP/alone.py"
check_printed "... and it is reported once" "Invalid argument"

# ---- not to be measured
check "POOLSCOPE_DISABLE" env POOLSCOPE_DISABLE=1 "LD_PRELOAD=$PRELOAD" "$PYTHON" -c 'import poolscope as ps
f = lambda: 1
assert ps.span("f")(f) is f
with ps.span("off", x=1) as s:
    s.set("a", 1)
    with ps.span("off"):
        ps.event("off", "off")
ps.counter("off").add(1)
ps.sample(off=1)
ps.past(1, 2, "off")
assert ps.traceparent() == "" and ps.flush() is True and ps.stats()["recorded"] == 0
ps.open(program="off")
ps.close()
import os
assert os.listdir("/proc/self/task") == [str(os.getpid())]'
settle
check_text "... leaves nothing" 0 "$(stored span 'r["name"]' 'r["name"] == "off"' | wc -l)"

# ---- too many
program many.py <<'PY'
import poolscope as ps

ps.open(ring_bytes=16384)
for i in range(20000):
    with ps.span("many", i=i):
        pass
ps.flush(30.0)
counts = ps.stats()
print(counts["recorded"], counts["sent"] + counts["dropped"], counts["dropped"] > 0)
PY
check "more than a ring holds" py "$TMP/many.py"
check_text "... is counted" "20000 20000 True" "$(cat "$TMP/out")"
check_printed "... and reported at the end" "^poolscope: [0-9]* of 20000 records were dropped"

# 300 attributes where 32 are stored, 40 of a span that is over, 130 numbers where 128 are, and
# 20 labels where 16 are; None is none.
program omitted.py <<'PY'
import poolscope as ps

many = {"a%d" % i: i for i in range(300)}
with ps.span("omitted", **many, none=None):
    ps.event("omitted", "event", **many, none=None)
ps.past(10**9, 2 * 10**9, "omitted past", **{"a%d" % i: i for i in range(40)})
ps.sample(labels={"l%d" % i: i for i in range(20)}, none=None, **{"omitted%d" % i: i for i in range(130)})
assert ps.flush(20.0)
print(ps.stats()["cut"], 268 + 268 + 8 + 2 + 4)
PY
check "more attributes, numbers and labels than a record has" py "$TMP/omitted.py"
check_text "... what was omitted is counted" "550 550" "$(cat "$TMP/out")"
settle
check_text "... in the record" "omitted 32 268
omitted past 32 8" "$(stored span 'r["name"], sum(k[1:].isdigit() for k in a), a["attributes.dropped"]' 'r["name"].startswith("omitted")' | sort)"
check_text "... also of an event" "32 268" "$(stored event 'sum(k[1:].isdigit() for k in a), a["attributes.dropped"]' 'r["source"] == "omitted"')"
check_text "... and the first ones are stored" 128 \
	"$(stored entity 'len(r["properties"]["names"].split())' '"omitted127" in r["properties"].get("names", "").split()')"
