#!/bin/sh
# A store read from Python: a story worked out by hand, every question and every kind of
# record against what the programs print as JSON, hostile names, and programs that fail,
# are killed, cut, or not read to the end.  The cases are in python_store.py.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/flow/python.sh
. "$(dirname "$0")/python.sh"
export TMPDIR="$TMP"

# story NAME CASE [ARGUMENT...]
story() {
	_told=$1
	shift
	check "$_told" py -W error "$ROOT/tests/flow/python_store.py" "$@"
}

model work <<-'END'
	phase step {
		start = "work:start"
		end = "work:end"
	}
END
cp "$ROOT"/deploy/models/*.conf "$TMP/models"
tcp=tcp://127.0.0.1:25790
check "keys" sh -c 'poolscope-keys new server --role server && poolscope-keys new ada --role reader -o "$0"' "$TMP/ada.key"
aggregate --models "$TMP/models" --reader "ipc://$DIR/run/reader.ipc" --reader "$tcp"
records <<'END'
group n1 room temperature:Cel:gauge bytes:By:counter
event 100 n1 work:start
event 160.123456789 n1 work:end a=1 b=x c=1.5
event 130 n2 work:start
span 1 5.000000001 n1 train step exit=2
sample 10 n1 room 21.5 100
sample 20 n1 room - 300
sample 30 n2 room 7 50
entity n1 image ubuntu size=5
gap 5 6 n1 samples lost 4
END
/usr/bin/python3 - >"$TMP/hostile" <<'END'
print("event 1 --node -n:--x")
print("event 2 n1 <b>:\"a\\' <script>alert(1)</script>=1 k=</td>&amp;")
print("event 3 wörld a:日本 größe=1")
# Any sender may write any text as labels.
for i, labels in enumerate(("nonsense", "17x", "[1]", '{"a":{"b":1}}', "[" * 30000, '{"rank":"3"}')):
    print("entity n1 set g%d names=v labels=%s" % (i, labels))
    print("sample 4 n1 g%d 5" % i)
END
PARTITION='-x$-y' records <"$TMP/hostile"
/usr/bin/python3 - >"$TMP/many" <<'END'
print("group n1 room", *["m%d:1:gauge" % i for i in range(50)])
for t in range(4000):
    print("sample", t, "n%d" % (t // 1000), "room", *[t * i for i in range(50)])
END
PARTITION='acct$many' records <"$TMP/many"

story "the story as rows" by_hand
story "every question is a method" words
story "every question says what its JSON says" questions
story "every kind of record, too" kinds
story "keywords are options" keywords
story "a store is a value" copied
story "hostile names" hostile
story "hundreds of thousands of rows" many
story "a table in a notebook" shown
story "the timeline is a picture" timeline
story "what is not there" missing
story "a program that is killed" killed
story "nobody reads to the end" unread
story "a program that says more than a pipe holds" loud
story "an answer that lacks rows" incomplete
story "a stream that is cut anywhere" cut
story "the lines of the page" page
story "a child of ours ends" forked
story "a directory, a store, an endpoint" places "$DIR" "$tcp" "$TMP/ada.key"

start broker poolscope-broker || exit 1
check "test runs are there" poolscope-import -p 'testrun$runs' testrun "$ROOT"/tests/golden/testrun/m01*
check "... and stored" wait_until "poolscope-stats runs -p 'testrun\$runs'" 30
story "what their questions say" questions 'testrun$runs'

start agent poolscope-agent --no-samples --no-clock -p 'acct$follow' -n n1 || exit 1
story "records as they come" follow 'acct$follow'
story "a follower killed at any time misses none" follow_killed 'acct$follow'
