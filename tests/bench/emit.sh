# emit - what one event from a shell costs, also through the front command, next to an interpreter that does
# nothing.  Goal: at most 2 ms of CPU an event.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/../.."
PATH=$PWD/${B:-build}/bin:$PATH
dir=$(mktemp -d /tmp/pse.XXXXXX)
trap 'kill "$agent" 2>/dev/null; wait "$agent" || true; rm -rf "$dir"' EXIT
mkfifo "$dir/ready"
poolscope-agent --dir "$dir" --no-samples --quiet --ready-fd 3 3>"$dir/ready" &
agent=$!
read -r _ <"$dir/ready" || true
POOLSCOPE_DIR=$dir
export POOLSCOPE_DIR

# cpu N COMMAND...: CPU milliseconds (user and system) of one of N runs, and
# how long one took.
cpu() {
	/usr/bin/python3 - "$@" <<'END'
import resource, subprocess, sys, time
n, command = int(sys.argv[1]), sys.argv[2:]
def spent():
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime
before, began = spent(), time.monotonic()
script = 'i=0; while [ $i -lt ' + str(n) + ' ]; do "$@" || exit 1; i=$((i+1)); done'
subprocess.run(["sh", "-c", script, "sh"] + command, check=True, stdout=subprocess.DEVNULL)
print("%.2f %.2f" % ((spent() - before) / n * 1e3, (time.monotonic() - began) / n * 1e3))
END
}

lines=50000
/usr/bin/python3 - $lines >"$dir/lines" <<'END'
import json, sys
for i in range(int(sys.argv[1])):
    print(json.dumps({"source": "cascade", "event": "pull-start", "ts": 1508000000 + i / 1000, "node": f"n{i % 40}",
                      "message": f"diff={i}", "attrs": {"img": "alfpark/caffe:cpu", "bytes": i, "ratio": i / 7}}))
END
cpu 500 poolscope-emit bench event --message a=b >"$dir/emit"
cpu 500 poolscope emit bench event --message a=b >"$dir/front"
cpu 500 /bin/true >"$dir/bare"
cpu 100 /usr/bin/python3 -c pass >"$dir/python"
read -r emit emit_wall <"$dir/emit"
read -r front front_wall <"$dir/front"
read -r bare _ <"$dir/bare"
read -r python _ <"$dir/python"
echo "emit: $emit ms CPU an event (goal 2), $emit_wall ms until it is on disk"
echo "poolscope emit: $front ms CPU an event (goal 2), $front_wall ms until it is on disk"
echo "emit: $bare ms CPU for /bin/true, $python ms for python3 -c pass, in the same loop"
awk -v e="$emit" -v f="$front" 'BEGIN { exit !(e <= 2 && f <= 2) }' || echo "emit: MISSED the goal of 2 ms"
awk '/VmHWM|RssAnon/ { print "emit: the agent has " $1 " " $2 " KiB afterwards" }' "/proc/$agent/status"
# shellcheck disable=SC2016 # $0 is the inner shell's
cpu 1 sh -c 'exec poolscope-emit --stdin --quiet <"$0"' "$dir/lines" >"$dir/stdin"
awk -v n=$lines '{ printf "emit --stdin: %.2f us CPU a line of JSON\n", $1 / n * 1e3 }' "$dir/stdin"
