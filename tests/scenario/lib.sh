# lib - what every story begins with:
#
#	. "$(dirname "$0")/lib.sh"
#	aggregate_steps
#	records <<-'END'
#		event 100 n1 work:start
#		event 160 n1 work:end
#	END
#	answer "one hour is one hour" "begin,seconds" "100,60" poolscope-stats ...
#
# A story says in its first comment what happened, and works out the answer by hand.
# The answer in the script is that number, never one that a program printed.
# tests/scenario/records.py has the language of the records; the partition is
# $PARTITION, and times count from $BASE.  The rest is tests/flow/lib.sh.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"

# shellcheck disable=SC2016 # a partition's name
PARTITION='acct$pool'
BASE=${BASE:-1700000000} # 2023-11-14 22:13:20 UTC
export BASE POOLSCOPE_PARTITION="$PARTITION"

# aggregate [ARGUMENT...]: start an aggregator; the story ends if it does not.
aggregate() {
	start aggregator poolscope-aggregator "$@" || exit 1
}

# delete_samples: start an aggregator that keeps compacted samples for 7 days, and wait
# until it has deleted them all, so that their rollups answer.
delete_samples() {
	aggregate --retain-raw 7d
	check "the samples are deleted" wait_until _no_samples 30
}
_no_samples() {
	[ "$(poolscope-dump --kind sample --format jsonl | wc -l)" = 0 ]
}

# model NAME: write a model to $TMP/models/NAME.conf from standard input.
model() {
	mkdir -p "$TMP/models"
	cat >"$TMP/models/$1.conf"
}

# flash_run BEGIN SECONDS ID: the events of a test run that waited, then was flashed.
flash_run() {
	echo "event $1 n1 run:queue_end run=$3"
	echo "event $(($1 + 1)) n1 run:flash_start run=$3"
	echo "event $(($1 + 1 + $2)) n1 run:flash_end run=$3"
}

# aggregate_steps: start an aggregator whose only model has one phase, work:step, from
# work:start to work:end.
aggregate_steps() {
	model work <<-'END'
		phase "step" {
			start = "work:start"
			end = "work:end"
		}
	END
	aggregate --models "$TMP/models"
}

# model_of_loads: the model of nodes that are prepared, which is required, and load images.
model_of_loads() {
	model work <<-'END'
		phase "prep" {
			start = "prep:start"
			end = "prep:end"
			required = true
		}
		phase "load" {
			start = "load:start"
			end = "load:end"
			key = "img"
		}
	END
}

# model_of_starts: the model of three_starts: work:prepare, which is required, and work:pull by image.
model_of_starts() {
	model work <<-'END'
		phase "prepare" {
			start = "work:prepare"
			end = "work:prepared"
			required = true
		}
		phase "pull" {
			start = "work:pull"
			end = "work:pulled"
			key = "img"
		}
	END
}

# three_starts IMAGE: records of n1 to n6.  In the first start all prepare 0-100 and pull for 20 s, in the second
# they prepare 10000-10120; in the third they prepare from 20000 on for 90 s, n6 for 95 s, and pull until 20110,
# n3 until 20190.
three_starts() {
	for i in 1 2 3 4 5 6; do
		printf 'event %s n'"$i"' work:%s\n' 0 prepare 100 prepared 10000 prepare 10120 prepared 20000 prepare
		printf 'event %s n'"$i"' work:%s img='"$1"'\n' 100 pull 120 pulled
		ready=20090
		[ "$i" != 6 ] || ready=20095
		pulled=20110
		[ "$i" != 3 ] || pulled=20190
		printf 'event %s n'"$i"' work:%s img='"$1"'\n' "$ready" prepared "$ready" pull "$pulled" pulled
	done
}

# aggregate_jobs: ... job:run, from job:start to job:end, each job by its name.
aggregate_jobs() {
	model job <<-'END'
		phase "run" {
			start = "job:start"
			end = "job:end"
			key = "job"
		}
	END
	aggregate --models "$TMP/models"
}

# records: send the records of standard input, and wait until they are indexed.
records() {
	send_records || exit 1
	wait_until indexed 30 || exit 1
}

# send_records: the same without waiting for the index.
send_records() {
	/usr/bin/python3 "$ROOT/tests/scenario/records.py" "ipc://$DIR/run/intake.ipc" "$PARTITION"
}

# at SECONDS: a time of the story as an option's value, seconds since 1970.
at() {
	/usr/bin/python3 -c 'import sys; from decimal import Decimal as D
print(D(sys.argv[1]) + D(sys.argv[2]))' "$BASE" "$1"
}

# answer NAME WANTED COMMAND...: passes when the command exits with 0 and prints
# exactly these lines.
answer() {
	_story=$1
	_wanted=$2
	shift 2
	check "$_story" "$@" || return 1
	check_text "... $_story: the answer" "$_wanted" "$(cat "$TMP/out")"
}

# columns NAMES COMMAND...: print these columns of a CSV table, without its header.
columns() {
	_names=$1
	shift
	"$@" >"$TMP/csv" || return
	/usr/bin/python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[2])):
    print(",".join(row[name] for name in sys.argv[1].split(",")))' "$_names" "$TMP/csv"
}

# steps NAMES COMMAND...: print these of run, step, iteration and seconds for each duration
# that CSV of `stats deltas` or `runs` has, run by run and step by step.
steps() {
	_names=$1
	shift
	"$@" >"$TMP/csv" || return
	/usr/bin/python3 -c 'import csv, sys
rows = list(csv.DictReader(open(sys.argv[2])))
for run in dict.fromkeys(row["run"] for row in rows):
    for key in [key for key in rows[0] if key.startswith("step.")]:
        for row in rows:
            if row["run"] == run and row[key]:
                of = dict(row, step=key[len("step."):], seconds=row[key])
                print(",".join(of[name] for name in sys.argv[1].split(",")))' "$_names" "$TMP/csv"
}

# field NAMES COMMAND...: print one value of a JSON answer; NAMES is a path such
# as phases/0/count.
field() {
	_names=$1
	shift
	"$@" >"$TMP/json" || return
	/usr/bin/python3 -c 'import json, sys
at = json.load(open(sys.argv[2]))
for name in sys.argv[1].split("/"):
    at = at[int(name)] if isinstance(at, list) else at[name]
print(json.dumps(at))' "$_names" "$TMP/json"
}

# compared STATUS COMMAND...: a line for each number of `compare --format csv`, which ends
# with this status: what, verdict, limits, medians, runs, how many would decide.
compared() {
	_status=$1
	shift
	"$@" >"$TMP/csv" 2>"$TMP/notes"
	_got=$?
	[ "$_got" = "$_status" ] || { echo "status $_got instead of $_status"; cat "$TMP/notes"; }
	/usr/bin/python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    print(row["metric"], row["verdict"], *("%.4f" % float(row[key]) if row[key] else "-" for key in ("low", "high", "old", "new")),
          row["old_runs"], row["new_runs"], row["needed"] or "-")' "$TMP/csv"
}
