# The receiver's textfile folder in a real instance: the numbers of files are in
# the store as they are in the files, wrong lines cost themselves, and a receiver
# or an agent that is killed loses no file.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a dollar is part of the name
. "$(dirname "$0")/lib.sh"

mkdir -p "$DIR/metrics.d"
cd "$DIR/metrics.d" || exit 1
cat >whole.prom <<'X'
# HELP jobs_total Jobs so far.
# TYPE jobs_total counter
jobs_total{queue="a"} 17
jobs_total{queue="b"} 23
# TYPE room_celsius gauge
room_celsius 21.5
X
cat >wrong.prom <<'X'
good 1
no number
good{a="1} 2
twice 3
twice 4
also_good{path="C:\\x",say="\"hi\""} 5
X
printf 'before 1\nhalf 179' >cut.prom
printf 'timed 1\nother 2 1700000000000\n' >timed.prom
head -c 5000000 /dev/zero >long.prom
mkfifo fifo.prom
mkdir folder.prom
echo 'secret 99' >"$TMP/secret"
ln -s "$TMP/secret" link.prom
printf 'ignored 7\n' >notes.txt
touch -d '1 hour ago' old.prom
written=$(date +%s)
touch -d "@$written" whole.prom

export POOLSCOPE_PARTITION='acct$pool' POOLSCOPE_PERIOD=300ms POOLSCOPE_TEXTFILE_PERIOD=1s
check "an instance with a receiver" poolscope up --receiver || exit 1
check_text "... which says where files go" "textfiles  $DIR/metrics.d" "$(grep '^textfiles' "$TMP/out")"

# numbers [NAME=LABELS]: all numbers of the receiver as "name{labels} unit type newest-value",
# taken from definitions and samples by a reader of its own.
numbers() {
	poolscope-dump -p 'acct$pool' --format jsonl --kind sample --kind entity --log error 2>/dev/null |
		python3 "$ROOT/tests/flow/receiver_judge.py" "$@"
}
# shows TEXT...: the numbers have each of these lines.
shows() {
	numbers >"$TMP/numbers"
	for each in "$@"; do grep -qxF -e "$each" "$TMP/numbers" || return 1; done
}

check "numbers of a file are stored as they are in it" wait_until \
	'shows "jobs_total{queue=a} - counter 17" "jobs_total{queue=b} - counter 23" "room_celsius{} Cel gauge 21.5"' 30
check "right lines next to wrong ones are, too" shows \
	'good{} - gauge 1' 'twice{} - gauge 3' 'also_good{path=C:\x,say="hi"} - gauge 5'
check "a line that ends before the file does" shows 'before{} - gauge 1'
check_text "nothing else is: no half number, no file with times, no link, no other name" "" \
	"$(grep -E '^(half|timed|other|secret|ignored|no)[ {]' "$TMP/numbers")"
check "each reason is counted" wait_until 'shows \
	"poolscope.receiver.bad.syntax{source=textfile} - counter 2" \
	"poolscope.receiver.bad.twice{source=textfile} - counter 1" \
	"poolscope.receiver.bad.cut{source=textfile} - counter 1" \
	"poolscope.receiver.bad.timestamps{source=textfile} - counter 1" \
	"poolscope.receiver.bad.too-long{source=textfile} - counter 1" \
	"poolscope.receiver.bad.not-a-file{source=textfile} - counter 3" \
	"poolscope.receiver.bad.ended{source=textfile} - counter 1"' 30
check "the time of a file is a number" shows "node_textfile_mtime_seconds{file=whole.prom} s gauge $written"
check "... and that a file was wrong" shows 'node_textfile_scrape_error{} - gauge 1'
log=$DIR/log/receiver.log
check "the log has the first bytes of a wrong line" grep -q "textfile: 1 left out, reason syntax: 'no number'" "$log"
check "... and names the file whose numbers ended" grep -q "reason ended: 'old.prom'" "$log"

# ---- files change
rm -rf wrong.prom cut.prom timed.prom long.prom fifo.prom folder.prom link.prom
printf '# TYPE jobs_total counter\njobs_total{queue="a"} 18\n' >.new && mv .new whole.prom
check "a file that was renamed into place is read" wait_until 'shows "jobs_total{queue=a} - counter 18"' 30
check "... and no error is left" wait_until 'shows "node_textfile_scrape_error{} - gauge 0"' 30

# ---- killed
kill -9 "$(cat "$DIR/run/receiver.pid")"
printf '# TYPE jobs_total counter\njobs_total{queue="a"} 19\n' >.new && mv .new whole.prom
check "a receiver that was killed starts again" poolscope up --receiver
check "... and reads what was written meanwhile" wait_until 'shows "jobs_total{queue=a} - counter 19"' 30
check_text "... its counter began again: two boots" "2" "$(numbers --boots jobs_total)"
kill -9 "$(cat "$DIR/run/agent.pid")"
printf '# TYPE jobs_total counter\njobs_total{queue="a"} 20\n' >.new && mv .new whole.prom
check "the log says that there is no agent" wait_until 'grep -q "the agent does not take the numbers: no agent at" "$log"' 30
check "a receiver without an agent lives" poolscope up --receiver
check "... and hands over when there is one" wait_until 'shows "jobs_total{queue=a} - counter 20"' 30
check_text "no number is stored twice" "0" "$(numbers --twice)"
check "what was not handed over is counted as lost" wait_until \
	'numbers | grep -q "^poolscope.receiver.lost{source=textfile} - counter [1-9]"' 30

check "down stops the receiver" poolscope down
check "... which says so" grep -q 'stopped$' "$log"
check "nothing runs" sh -c '! flock -n "$DIR/run/receiver.pid" false || [ ! -e "$DIR/run/receiver.pid" ]'
