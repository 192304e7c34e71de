# listeners - what encryption and keys cost: events of four importers at a time
# through a broker to the aggregator, both over TCP, acknowledged after fsync,
# with CURVE and without, in turn.  The goal: at least 70 % with.
#
#	RUNS=3 EVENTS=50000 sh tests/bench/listeners.sh
#
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/lib.sh"
events=${EVENTS:-50000}
mkdir -p "$TMP/i/run"
for key in "server --role server" "front --role broker" agent; do
	# shellcheck disable=SC2086 # a name and its options
	poolscope-keys new $key >/dev/null
done
pids=
trap 'kill $pids 2>/dev/null; wait; rm -rf "$TMP"' EXIT

# pair NAME PORT [OPTION...]: an aggregator and a broker.
pair() {
	name=$1
	port=$2
	shift 2
	mkfifo "$TMP/$name.a" "$TMP/$name.b"
	poolscope-aggregator --ready-fd 3 --store "$TMP/$name" --reader "ipc://$TMP/$name.ipc" \
		--listen "tcp://127.0.0.1:$((port + 1))" "$@" 3>"$TMP/$name.a" 2>/dev/null &
	pids="$pids $!"
	head -1 "$TMP/$name.a" >/dev/null
	[ "$name" = plain ] || set -- --key "$TMP/i/keys/front.key"
	poolscope-broker --ready-fd 3 --listen "tcp://127.0.0.1:$port" \
		--aggregator "tcp://127.0.0.1:$((port + 1))" "$@" 3>"$TMP/$name.b" 2>/dev/null &
	pids="$pids $!"
	head -1 "$TMP/$name.b" >/dev/null
}

pair curve 25720
pair plain 25722 --insecure
/usr/bin/python3 - "$TMP" "$RUNS" "$events" <<'END'
import json, subprocess, sys, time

where, runs, events = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
IMPORTERS = 4


def run(name, number):
    done = []
    for i in range(IMPORTERS):
        path = "%s/%s-%d-%d" % (where, name, number, i)
        with open(path, "w") as f:
            for e in range(events // IMPORTERS):
                f.write(json.dumps({
                    "PartitionKey": "acct$%s" % name, "RowKey": "%d.%06d" % (1508000000 + number, e),
                    "Event": "step:%d" % (e % 7), "NodeId": "node-%d-%d" % (i, e % 100),
                    "Message": "run %d, event %d" % (number, e)}) + "\n")
        done.append(path)
    how = (["--insecure", "--broker", "tcp://127.0.0.1:25722"] if name == "plain" else
           ["--key", where + "/i/keys/agent.key", "--broker", "tcp://127.0.0.1:25720"])
    begin = time.monotonic()
    clients = [subprocess.Popen(["poolscope-import", "-q"] + how + ["cascade", path]) for path in done]
    assert all(client.wait() == 0 for client in clients)
    return events / (time.monotonic() - begin)


rates = {"curve": [], "plain": []}
for number in range(runs):
    for name in rates:
        rates[name].append(run(name, number))
for name, got in rates.items():
    print("%-6s %9.0f events/s (best of %d: %s)" % (
        name, max(got), runs, " ".join("%.0f" % r for r in got)))
print("curve is %.0f %% of plain, goal 70 %%" % (100 * max(rates["curve"]) / max(rates["plain"])))
END
