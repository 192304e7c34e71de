#!/bin/sh
# Profiles of a Scanner job: what is damaged, what is missing, which workers;
# the recorded events are tests/golden/scanner.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
cases=$ROOT/tests/golden/scanner

# import PARTITION JOB DB [OPTION...]
import() {
	_partition=$1 _job=$2 _db=$3
	shift 3
	poolscope-import scanner -p "$_partition" --job "$_job" "$@" "$_db"
}

# spans PARTITION: how many are in the store.
spans() {
	poolscope-dump -q -p "$1" --kind span --format jsonl | wc -l
}

# arrived PARTITION N
arrived() {
	wait_until "test \"\$(spans '$1')\" = $2"
}

# value KEY: of the job, from stats as printed last.
value() {
	/usr/bin/python3 -c 'import json, sys
v = json.load(open(sys.argv[1]))
for k in sys.argv[2].split("/"):
	v = v[int(k)] if isinstance(v, list) else v[k]
print(v)' "$TMP/out" "$1"
}

# ---- wrong usage is one line and 2
wrong_usage "a job must be named" "job is missing" poolscope-import scanner -p 'a$b' "$TMP"
wrong_usage "so must the partition" "profiles have no partition" poolscope-import scanner --job 1 "$TMP"
wrong_usage "one database at a time" "unexpected argument .*: poolscope-import scanner DBDIR" poolscope-import scanner -p 'a$b' --job 1 "$TMP" "$TMP"
wrong_usage "lines have no job" "--job is for scanner, not for cascade" poolscope-import cascade --job 1 "$TMP"
wrong_usage "nor a seed" "--seed is for scanner, not for perf" poolscope-import perf -p 'a$b' --seed 1 "$TMP"
wrong_usage "statistics are of a job" "missing option: --job names" poolscope-stats scanner --format json -p 'a$b'
wrong_usage "a trace is of a job" "missing option: --job names" poolscope-trace scanner -p 'a$b' -o "$TMP/x.trace"
wrong_usage "... and of all of it" "from is for timeline" poolscope-trace scanner -p 'a$b' --job 1 --from -1h -o "$TMP/x.trace"
wrong_usage "... with the times of the files" "as they were recorded" poolscope-trace scanner -p 'a$b' --job 1 --clock corrected -o "$TMP/x.trace"
check_status 1 "a job that is not there is an error" import 'a$b' 4 "$cases/s01_one_worker/db"
check_printed "... with its directory" "jobs/4: No such file"
check_status 1 "so is a name without a database's descriptor" import 'a$b' demo "$cases/s01_one_worker/db"
check_printed "... which is named" "db_metadata.bin: No such file"

start aggregator poolscope-aggregator --models "$ROOT/deploy/models" && start broker poolscope-broker || exit 1

# ---- a database of several workers, the second one damaged
db=$TMP/db
job=$db/jobs/3
mkdir -p "$db"
cp -r "$cases/s02_two_workers/db/jobs" "$db"
chmod -R u+w "$db"
for worker in 2 3 4; do
	cp "$job/profile_0.bin" "$job/profile_$worker.bin"
done
printf '\010\003\022\003job\050\005' >"$job/descriptor.bin"
# Two jobs, the later one of this name.
printf '\010\005\032\007\010\001\022\003job\032\007\010\003\022\003job' >"$db/db_metadata.bin"
whole=$(wc -c <"$job/profile_1.bin")
head -c $((whole - 1000)) "$job/profile_1.bin" >"$TMP/cut"
mv "$TMP/cut" "$job/profile_1.bin"

check_status 1 "with --strict a damaged profile imports nothing" import 'acct$strict' job "$db" --strict
check_printed "... and the message gives its offset" 'profile_1.bin: offset [0-9]*: the file ends'
check_printed "... and the message says so" 'nothing was imported'
check_text "... and nothing is there" 0 "$(spans 'acct$strict')"

check_status 1 "a damaged profile is imported up to there" import 'acct$damaged' job "$db"
check_printed "... and the message gives its offset" 'jobs/3/profile_1.bin: offset [0-9]*: the file ends'
check_printed "... once" '^[0-9]* intervals, 1 damaged place$'
count=$(sed -n 's/^\([0-9]*\) intervals.*/\1/p' "$TMP/out")
arrived 'acct$damaged' "$count" || fail "all of them are there"
check "it has numbers" poolscope-stats scanner --format json -p 'acct$damaged' --job job
check_printed "... and a warning" 'files of the job were damaged in 1 places'
check_text "... which say where" "1 0 1 0" "$(value damaged) $(value nodes/1/damaged) $(value nodes/2/damaged) $(value nodes/5/damaged)"
check_text "... all workers and the master" "master 4" "$(value nodes/0/node) $(value nodes/5/node)"
check_text "... and all intervals" "$count" "$(value intervals)"
check_printed "... and what" '"profile_1.bin: offset'
check "a trace has what could be saved" poolscope-trace scanner -p 'acct$damaged' --job 3 -o "$TMP/damaged.trace"
check_text "... all of it" "$count" "$(grep -c '"ph":"X"' "$TMP/damaged.trace")"
check "other workers are whole" sh -c 'poolscope-trace scanner -p "acct\$damaged" --job 3 -o "$1.json" &&
	grep "\"ph\":\"X\".*\"pid\":4" "$1.json" | sed "s/\"pid\":4,\"tid\":[0-9]*/-/" >"$1.4" &&
	grep "\"ph\":\"X\".*\"pid\":0" "$1.json" | sed "s/\"pid\":0,\"tid\":[0-9]*/-/" >"$1.0" &&
	sed "s/,$//" "$1.0" >"$1.a" && sed "s/,$//" "$1.4" | cmp - "$1.a" && test -s "$1.a"' - "$TMP/t"
check_status 1 "the same once more" import 'acct$damaged' 3 "$db"
check_printed "... is there already" "^$count intervals, 1 damaged place, $count already there"

# ---- the repaired file is another job's content: traces have only that
cp "$cases/s02_two_workers/db/jobs/3/profile_1.bin" "$job/profile_1.bin"
check "repaired files are imported" import 'acct$damaged' 3 "$db"
more=$(sed -n 's/^\([0-9]*\) intervals.*/\1/p' "$TMP/out")
arrived 'acct$damaged' $((count + more)) || fail "in addition to the first ones"
check "a trace has them once" poolscope-trace scanner -p 'acct$damaged' --job 3 -o "$TMP/repaired.trace"
check_text "... all" "$more" "$(grep -c '"ph":"X"' "$TMP/repaired.trace")"
check "numbers, too" poolscope-stats scanner --format json -p 'acct$damaged' --job 3
check_text "... are of them alone" "$more 0" "$(value intervals) $(value damaged)"

# ---- every program knows the job
check "the job is an interval of its nodes" sh -c \
	'test "$(poolscope-dump -q -p "acct\$damaged" --kind phase --format jsonl | grep -c "\"job:run\"\|\"run\"")" -ge 6'
check "a timeline has it" poolscope-trace -q -p 'acct$damaged' --job 3 -o "$TMP/line.trace"
check "... with the names of its threads" grep -q 'Pipeline\[0\]:Ops\[0\]' "$TMP/line.trace"

# ---- some of the workers
sampled() {
	import "$1" 3 "$db" --subsample 2 --seed "$2" >/dev/null &&
		wait_until "poolscope-stats scanner --format json -p '$1' --job 3 >/dev/null" &&
		poolscope-stats scanner --format json -p "$1" --job 3 >"$TMP/out" &&
		echo "$(value nodes/0/node) $(value nodes/1/node) $(value nodes/2/node)"
}
one=$(sampled 'acct$one' 1)
check_text "the same seed chooses the same workers" "$one" "$(sampled 'acct$two' 1)"
check "... with the master" test "${one%% *}" = master
others=
for seed in 2 3 4 5 6 7 8 9; do
	[ "$(sampled "acct\$seed$seed" $seed)" = "$one" ] || { others=1; break; }
done
check "other seeds choose others" test -n "$others"

# ---- files that are not there, or cannot be one
rm "$job/profile_master.bin" "$job/profile_0.bin"
printf '\377\377' >"$job/descriptor.bin"
printf 'short' >"$job/profile_2.bin"
check_status 1 "a damaged descriptor leaves the profiles that are there" import 'acct$few' 3 "$db"
check_printed "... is named" 'descriptor.bin: offset'
check_printed "... and so is a profile without a head" 'profile_2.bin: offset 0: the file ends'
wait_until "poolscope-stats scanner --format json -p 'acct\$few' --job 3"
check "the rest has numbers" poolscope-stats scanner --format json -q -p 'acct$few' --job 3
check_text "... of its workers" "1 3 4" "$(value nodes/0/node) $(value nodes/1/node) $(value nodes/2/node)"
check_text "... after the earliest of them" "$(value begin)" "$(value base)"
check_status 1 "an unknown job is an error" poolscope-stats scanner --format json -p 'acct$few' --job 9
check_printed "... with its name" "no profiles of job '9'"
check_status 1 "for a trace, too" poolscope-trace scanner -p 'acct$few' --job 9 -o "$TMP/none.trace"
check "... which leaves no file" test ! -e "$TMP/none.trace"
rm "$job"/profile_*
check_status 1 "a job without profiles is an error" import 'acct$few' 3 "$db"
check_printed "... in words" 'has no profiles'

# ---- a worker that began a second before the master: times of traces are after the master's begin
mkdir "$TMP/early"
cp -r "$cases/s01_one_worker/db/jobs" "$TMP/early"
chmod -R u+w "$TMP/early"
/usr/bin/python3 -c 'import struct, sys
with open(sys.argv[1], "r+b") as f:
	f.write(struct.pack("<q", 1546300799123456789))' "$TMP/early/jobs/0/profile_0.bin"
check "a worker that began before the master" import 'acct$early' 0 "$TMP/early"
wait_until "poolscope-stats scanner --format json -p 'acct\$early' --job 0"
check "... has numbers" poolscope-stats scanner --format json -p 'acct$early' --job 0
check_text "... which begin with it" "2018-12-31T23:59:59.123456789Z" "$(value begin)"
check_text "... and times of traces are after the master's" "2019-01-01T00:00:00.123456789Z" "$(value base)"

# ---- a name in every form
check "the table has all workers and the master" poolscope-stats scanner -p 'acct$damaged' --job 3
check_text "... and no other node" "- master" "$(awk '$1 == "NODE" { on = 1; next } on && NF == 0 { exit } on { print $1 }' "$TMP/out" | sort -u | xargs)"
check "CSV has a row a node and name" poolscope-stats scanner -p 'acct$damaged' --job 3 --format csv
check_printed "... with the master's" '^master,master,'
