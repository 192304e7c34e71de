#!/bin/sh
# The /proc, /sys and control groups of many kinds of hosts, recorded ones and
# others by the documents, in tests/golden/hosts: every number that the agent
# samples of them is what a judge of its own reads, and what he does not know is
# unknown.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

HOSTS=$TMP/hosts pool='host$recorded'
judge() {
	/usr/bin/python3 -B "$ROOT/tests/golden/hosts/judge.py" "$@"
}
judge build "$HOSTS" || exit 1
start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1

# begin NAME: the agent of a host.
begin() {
	# shellcheck disable=SC2046 # options
	start "$1" poolscope-agent --dir "$TMP/agents/$1" --broker "ipc://$DIR/run/broker.ipc" -p "$pool" -n "$1" \
		--no-clock --period 200ms --send-interval 100ms $(cat "$HOSTS/$1/args")
}
# sampled NODES: how often the one of them that was sampled least often was.  A
# round ends before the next one begins, so three have two whole ones.
least() {
	poolscope-dump -q -p "$pool" --kind sample --name memory -n "$1" --format wide | /usr/bin/python3 -c '
import collections, csv, sys
count = collections.Counter(r["node"] for r in csv.DictReader(sys.stdin))
print(min(count[n] for n in sys.argv[1].split(",")))' "$1"
}
# round NAME...: sample these.
round() {
	for each; do
		begin "$each" || fail "the agent of $each starts" "$TMP/$each.log"
	done
	nodes=$(echo "$*" | tr ' ' ,)
	wait_until "[ \$(least $nodes) -ge 3 ]" 60 || fail "$* are sampled"
}
end() {
	for each; do
		stop "$each"
		[ "$STATUS" -eq 0 ] || fail "the agent of $each ends" "$TMP/$each.log"
	done
}

still='' changing='' count=0
for each in "$HOSTS"/*; do
	name=${each##*/}
	if [ -d "$each/after" ]; then
		changing="$changing $name"
		continue
	fi
	still="$still $name"
	count=$((count + 1))
	[ $((count % 8)) -ne 0 ] || still="$still;"
done
echo "$still" | tr ';' '\n' >"$TMP/rounds"
# Not of a pipe: what is started is stopped by this shell.
while read -r names <&9; do
	[ -n "$names" ] || continue
	# shellcheck disable=SC2086 # names
	round $names
	# shellcheck disable=SC2086 # names
	end $names
done 9<"$TMP/rounds"
# shellcheck disable=SC2086 # names
round $changing
check "hosts change" judge change "$HOSTS"
had=$(least "$nodes")
check "they are sampled again" wait_until "[ \$(least $nodes) -ge $((had + 3)) ]" 60
# shellcheck disable=SC2086 # names
end $changing
wait_until indexed 30
poolscope-dump -q -p "$pool" --kind sample --format long >"$TMP/long"
check "every number of every host is the judge's" judge compare "$HOSTS" "$TMP/long"
tail -n 1 "$TMP/out"
check "the usage is read" poolscope-stats -q usage -p "$pool" --format json
cp "$TMP/out" "$TMP/usage.json"
check "no host used more than its processors can" judge usage "$HOSTS" "$TMP/usage.json"
# What an agent leaves out it logs, once; of these hosts nothing else is wrong.
check_text "the log has what was left out" "hidepid: 1 processes of jobs; interfaces-300: 175 interfaces" "$(
	for each in "$HOSTS"/*; do
		sed -nE "s#.* (warn|error) poolscope-agent: (.*)#${each##*/}: \2#p" "$TMP/${each##*/}.log"
	done | sed 's/ are not sampled: .*//' | tr '\n' ';' | sed 's/;$//; s/;/; /g')"
