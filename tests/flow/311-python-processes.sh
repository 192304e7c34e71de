#!/bin/sh
# Programs in Python that become several processes, in every way that Python has: what each
# of them did is stored once, also when they end without a word.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/python.sh
. "$ROOT/tests/flow/python.sh"
start_pool

# ---- fork
program fork.py <<'PY'
import os
import sys

import poolscope as ps

with ps.span("before"):
    pass
across = ps.span("across")
with across:
    child = os.fork()
    if child == 0:
        for i in range(50):
            with ps.span("child", i=i):
                pass
        sys.exit()
    assert os.waitpid(child, 0)[1] == 0
with ps.span("after"):
    pass
child = os.fork()
if child == 0:
    with ps.span("flushed"):
        pass
    ps.flush(10.0)
    os._exit(0)
os.waitpid(child, 0)
if os.fork() == 0:
    os._exit(0)
os.wait()
PY
check "a program forks" py "$TMP/fork.py"
settle
check_text "... what each process did is stored once" "after 1
before 1
child 50
flushed 1" "$(stored span 'r["name"]' 'r["name"] != "across"' | sort | uniq -c | awk '{ print $2, $1 }')"
check_text "... the child's within the span in which it was made" 50 \
	"$(stored span 'parent(r)' 'r["name"] == "child"' | grep -c across)"
check_text "... and processes have tracks of their own" 3 \
	"$(stored span 'r["track"]' 'r["track"].startswith("fork.py")' | sort -u | wc -l)"

program late.py <<'PY'
import os

for _ in range(3):
    if os.fork() == 0:
        import poolscope as ps

        with ps.span("late"):
            pass
        raise SystemExit
for _ in range(3):
    assert os.wait()[1] == 0
PY
check "a program that forks before it imports the module" py "$TMP/late.py"
settle
check_text "... and its processes have tracks of their own" 3 \
	"$(stored span 'r["track"]' 'r["name"] == "late"' | sort -u | wc -l)"

# ---- multiprocessing: the module is imported before it, after it, and only in the child
for order in before after child; do
	for way in fork spawn forkserver; do
		program "$order-$way.py" <<PY
$([ $order != before ] || echo import poolscope)
import multiprocessing
$([ $order != after ] || echo import poolscope)


def work(n):
    import poolscope as ps

    for i in range(n):
        with ps.span("$order-$way", i=i):
            pass


def nothing():
    pass


if __name__ == "__main__":
    context = multiprocessing.get_context("$way")
    children = [context.Process(target=work, args=(50,)) for _ in range(2)] + [context.Process(target=nothing)]
    for child in children:
        child.start()
    for child in children:
        child.join()
        assert child.exitcode == 0
PY
		check "multiprocessing by $way, the module imported $order" py "$TMP/$order-$way.py"
	done
done
settle
for order in before after child; do
	for way in fork spawn forkserver; do
		check_text "$way, $order: every span, on two tracks" "100 2" "$(stored span 'r["track"]' \
			"r['name'] == '$order-$way'" | sort | uniq -c | awk '{ n += $1; t++ } END { print n, t }')"
	done
done

program pool.py <<'PY'
import concurrent.futures
import multiprocessing

import poolscope as ps


@ps.span("pooled")
def work(i):
    return i


if __name__ == "__main__":
    with multiprocessing.Pool(4) as pool:
        assert pool.map(work, range(40)) == list(range(40))
        pool.close()
        pool.join()
    with concurrent.futures.ProcessPoolExecutor(2) as executor:
        assert list(executor.map(work, range(40))) == list(range(40))
    with ps.span("pooled"):
        pass
PY
check "pools of processes" py "$TMP/pool.py"
settle
check_text "... have every span" 81 "$(stored span 'r["name"]' 'r["name"] == "pooled"' | wc -l)"

# ---- threads, and an end in the middle of things
program threads.py <<'PY'
import threading

import poolscope as ps


together = threading.Barrier(4)


def work():
    together.wait()
    for i in range(100):
        with ps.span("threaded", i=i):
            pass


threads = [threading.Thread(target=work, name="worker %d" % i) for i in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
threading.Thread(target=threading.Event().wait, daemon=True).start()
with ps.span("threaded"):
    raise SystemExit(3)
PY
check_status 3 "threads that begin at once" py "$TMP/threads.py"
settle
check_text "... have a track each" "1 MainThread
100 worker 0
100 worker 1
100 worker 2
100 worker 3" "$(stored span 'r["track"].partition("/")[2]' 'r["name"] == "threaded"' | sort | uniq -c | sed 's/^ *//')"
check_text "... and the end is a span's" SystemExit "$(stored span 'a["error"]' '"error" in a')"

# ---- an end without an agent does not wait
stop agent
began=$(date +%s%N)
check "without an agent" py -c 'import poolscope as ps
with ps.span("lost"):
    pass'
check "... an end is at once" test $((($(date +%s%N) - began) / 1000000)) -lt $((1500 * SLOW))
