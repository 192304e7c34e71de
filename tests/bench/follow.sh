# follow - samples as they come to VictoriaMetrics: values a second, of the whole
# process and until the service has acknowledged them.  Next to it what making
# the lines takes alone, and what VictoriaMetrics takes for the same lines from
# curl.
#
#   NODES=100 SECONDS_EACH=4000 sh tests/bench/follow.sh
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
set -eu
cd "$(dirname "$0")/../.."
B=${B:-build}
PATH=$PWD/$B/bin:$PATH
nodes=${NODES:-100}
seconds=${SECONDS_EACH:-4000}
pool=bench\$pool
command -v victoria-metrics >/dev/null || {
	echo "SKIPPED: no victoria-metrics here"
	exit 0
}
tmp=$(mktemp -d "${BENCH_DIR:-${TMPDIR:-/tmp}}/poolscope.XXXXXX")
service=
follower=
end() {
	[ -z "$follower" ] || kill -9 "$follower" 2>/dev/null || :
	[ -z "$service" ] || kill -9 "$service" 2>/dev/null || :
	rm -rf "$tmp"
}
trap end EXIT
trap 'exit 1' INT TERM
export POOLSCOPE_DIR="$tmp/i" TMPDIR="$tmp"
port=$(/usr/bin/python3 -c 'import socket
print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
url=http://127.0.0.1:$port

pause() {
	timeout 0.02 tail -f /dev/null || :
}

start_service() {
	rm -rf "$tmp/victoria"
	victoria-metrics "-storageDataPath=$tmp/victoria" "-httpListenAddr=127.0.0.1:$port" \
		-retentionPeriod=100y -memory.allowedBytes=1GB >/dev/null 2>&1 </dev/null &
	service=$!
	until curl -sf -o /dev/null "$url/health"; do
		kill -0 "$service"
		pause
	done
}

# stop_service: and says how much processor time it took.
stop_service() {
	awk '{ printf "  VictoriaMetrics itself: %.2f s of processor time\n", ($14 + $15) / 100 }' "/proc/$service/stat"
	kill -9 "$service"
	wait "$service" 2>/dev/null || :
	service=
}

# rate NAME BEGIN END
rate() {
	awk -v n="$values" -v name="$1" -v t="$2 $3" 'BEGIN {
		split(t, at, " ")
		printf "%-44s %.2f s, %.2f million values/s\n", name, at[2] - at[1], n / (at[2] - at[1]) / 1e6
	}'
}

"$B/bench/series" fill "$tmp/i" "$nodes" "$seconds"
to=influx:$url/write
begin=$(date +%s.%N)
poolscope-upload samples -p "$pool" --target "$to" --follow --dry-run -q --cursor "$tmp/none" >"$tmp/lines"
ended=$(date +%s.%N)
grep ' ' "$tmp/lines" | grep -v '^POST\|^Content' >"$tmp/body"
values=$(awk '{ n += gsub(/=/, "=") - 2 } END { print n }' "$tmp/body")
samples=$(wc -l <"$tmp/body")
echo "$samples samples, $values values, $(wc -c <"$tmp/body") bytes of lines"
rate "lines alone, into a file" "$begin" "$ended"

start_service
begin=$(date +%s.%N)
poolscope-upload samples -p "$pool" --target "$to" --follow -q --cursor "$tmp/cursor" &
follower=$!
until grep -qx "sent $samples" "$tmp/cursor" 2>/dev/null; do
	kill -0 "$follower"
	pause
done
ended=$(date +%s.%N)
rate "follow to VictoriaMetrics (goal 1 million)" "$begin" "$ended"
awk '{ printf "  poolscope-upload itself: %.2f s of processor time\n", ($14 + $15) / 100 }' "/proc/$follower/stat"
awk '/VmHWM/ { printf "  and %.1f MiB\n", $2 / 1024 }' "/proc/$follower/status"
kill "$follower"
wait "$follower" || :
follower=
stop_service

start_service
split -C 4m "$tmp/body" "$tmp/part."
begin=$(date +%s.%N)
set --
for part in "$tmp"/part.*; do
	set -- "$@" --next -sf -o /dev/null -H 'Expect:' --data-binary "@$part" "$url/write?precision=ns"
done
shift
curl "$@"
ended=$(date +%s.%N)
rate "the same lines by curl" "$begin" "$ended"
stop_service
