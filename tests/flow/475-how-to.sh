#!/bin/sh
# CONTRIBUTING.md says how to add an option, a metric, a target, a question and a column.
# Its blocks are applied to a copy of the tree, as they are; what they add must be built
# and be there: with its number, in --help, in the manual.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"

# Objects that the change does not touch are those of the build, and the others need not be
# fast: 15 s of CPU.
if [ "$B" != "$ROOT/build" ]; then
	echo "SKIPPED 475-how-to: once, with the release variant"
	exit 0
fi

COPY=$TMP/copy
mkdir -p "$COPY/build"
cp -a Makefile CONTRIBUTING.md agents aggregator broker deploy exporters proto "$COPY"
for each in build/agents build/aggregator build/broker build/deploy build/exporters build/proto build/*.a build/config-*.mk; do
	[ ! -e "$each" ] || cp -a "$each" "$COPY/build"
done

# Where a block begins that is no change of the tree, or a line that it quotes is gone, the
# text is wrong.
check "the blocks fit the tree" /usr/bin/python3 tests/flow/how_to.py CONTRIBUTING.md "$COPY"
check_text "each kind has its blocks" "metric_groups.def phases.c question.c target.c values.c" \
	"$(grep -oE '(metric_groups.def|/phases.c|/question.c|/target.c|/values.c)$' "$TMP/out" | tr -d / | sort -u | tr '\n' ' ' | sed 's/ $//')"
built() {
	# shellcheck disable=SC2086 # a list
	make -s -C "$COPY" -j2 CFLAGS='-O0 -U_FORTIFY_SOURCE' $1
}
check "the changed tree builds" built "build/bin/poolscope-stats build/bin/poolscope-agent build/bin/poolscope-upload"
NEW=$COPY/build/bin

aggregate_steps
records <<-'END'
	event   0 n1 work:start
	event  10 n1 work:end
	event 100 n1 work:start
	event 125 n1 work:end
	event 200 n1 work:start
	event 240 n1 work:end
	span    0   5 n1 main often
	span   10  15 n1 main often
	span   20  25 n1 main once
END

# Steps of 10, 25 and 40 s.
answer "a column" "30.0" columns spread "$NEW/poolscope-stats" phases --format csv
# Three starts, three ends.
answer "a question" "6" columns events "$NEW/poolscope-stats" total --format csv
check "... its columns" sh -c '"$1" total --columns help | grep -q "^events .*how many events there are"' sh "$NEW/poolscope-stats"
cd "$COPY" || exit 1
check "... its page is made" sh exporters/manual.sh "$NEW/poolscope-stats" "$TMP/man"
check "... of the table, and of what people wrote" sh -c 'grep -q "^\.It Li events$" "$1" && grep -q "^How many events the store has" "$1"' sh "$TMP/man/poolscope-stats-total.1"
check "... and the list of pages has it" grep -q "poolscope-stats-total 1" "$TMP/man/poolscope-stats.1"
check "... and completion" sh -c 'sh deploy/completion.sh bash "$1" | grep -q " total "' sh "$NEW/poolscope-stats"
cd "$ROOT" || exit 1

# Two spans have one name, one has the other.
answer "an option" "often" columns name "$NEW/poolscope-stats" spans --often 2 --format csv
check "... in --help" sh -c '"$1" spans --help | grep -q -e "--often N"' sh "$NEW/poolscope-stats"

echo something >"$TMP/file"
check "a target" "$NEW/poolscope-upload" file "$TMP/file" --target discard:here
check_status 2 "... takes only what it says" "$NEW/poolscope-upload" events --target discard:here

# Three processes run, and two wait for a disk.
HOST=$TMP/proc
mkdir -p "$HOST/self" "$HOST/net" "$HOST/sys/kernel/random"
printf 'cpu  3 0 1 6 0 0 0 0 0 0\nctxt 7\nprocesses 5\nprocs_running 3\nprocs_blocked 2\n' >"$HOST/stat"
echo '0.50 0.40 0.30 3/20 99' >"$HOST/loadavg"
echo '01234567-89ab-cdef-0123-456789abcdef' >"$HOST/sys/kernel/random/boot_id"
start broker poolscope-broker || exit 1
start agent "$NEW/poolscope-agent" -p 'acct$sampled' -n n9 --no-clock --proc "$HOST" \
	--metric-groups load --period 100ms --send-interval 100ms || exit 1
waiting() {
	"$NEW/poolscope-stats" samples -p 'acct$sampled' -m system.process.count.waiting --format csv | grep -q waiting
}
check "a metric is sampled" wait_until waiting 30
answer "... with its unit" "5.0,{process}" columns max,unit "$NEW/poolscope-stats" samples -p 'acct$sampled' \
	-m system.process.count.waiting --format csv
stop agent
stop broker
stop aggregator
