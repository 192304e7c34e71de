#!/bin/sh
# What each answer says of input that cannot carry it, in one sentence, and that the rest is
# still given.  14 nodes are prepared 0-10, then they load an image: n01 to n13 for 20 to 24 s
# (20 + the number modulo 5), n14 for 60 s.  So n14 is ready at 70, the others at 34 at the
# latest; n14 waited for a disk 70 % of the time, the others 10 %.  The median is 22 s (as in
# 610-stragglers.sh), so n14 lost 38 s.  Six pools:
#
#	few	only n04 to n14, 11 nodes, in 4 starts that are alike: 4 runs decide nothing, and 11
#		nodes, or 3 earlier times of n14, say not what is usual
#	nothing	n14 has no samples
#	brief	a sample of each node every 90 s: less than two in each phase
#	clock	n14 loads for 22 s, too, 10-32, but at 20 its clock is set 38 s ahead, so that the
#		end is recorded at 70.  It was ready at 32; the pool at 34, with n04 or n09.
#	silent	its model does not say what phases wait for
#	lost	3 events of n14 were lost
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# of NAME PREFIX [LINE]: a model, whose events have this prefix
of() {
	model "$1" <<-END
		phase "prep" {
			start = "${2}prep:start"
			end = "${2}prep:end"
			required = true
		}
		phase "load" {
			start = "${2}load:start"
			end = "${2}load:end"
			key = "img"
			required = true
			${3:-}
		}
	END
}
of pool "" 'after = { "prep" }'
of silent own-
aggregate --models "$TMP/models"

# pool NAME [FIRST [STARTS [PERIOD]]]
pool() {
	PARTITION="acct\$$1"
	awk -v name="$1" -v first="${2:-1}" -v starts="${3:-1}" -v period="${4:-1}" 'BEGIN {
	own = name == "silent" ? "own-" : ""
	for (s = 0; s < starts; s++)
	for (i = first; i <= 14; i++) {
		zero = 7200 * s
		node = sprintf("n%02d", i)
		print "event", zero, node, own "prep:start"
		print "event", zero + 10, node, own "prep:end"
		print "event", zero + 10, node, own "load:start img=redis"
		print "event", zero + 10 + (i == 14 ? 60 : 20 + i % 5), node, own "load:end img=redis"
		if (i == 14 && name == "nothing") continue
		if (i == 14 && name == "lost") print "gap", 20, 30, node, "event full 3"
		print "group", node, "pressure system.linux.pressure.cpu.some:us:counter system.linux.pressure.memory.some:us:counter system.linux.pressure.io.some:us:counter"
		print "group", node, "clock poolscope.clock.offset:ns:gauge poolscope.clock.error:ns:gauge" \
			" poolscope.clock.drift:ns/s:gauge poolscope.clock.drift.error:ns/s:gauge" \
			" poolscope.clock.round_trip:ns:gauge poolscope.clock.generation:1:gauge" \
			" poolscope.clock.generation.begin:ns:gauge"
		disk = 0
		for (t = -90; t <= 90; t++) {
			ahead = i == 14 && name == "clock" && t > 20 ? 38 : 0
			disk += i == 14 && name != "clock" && t > 10 && t <= 70 ? 0.7 : 0.1
			if (t % period == 0)
				print "sample", zero + t + ahead, node, "pressure", 0, 0, disk * 1e6
			if (t % 5 == 0)
				print "sample", zero + t + ahead, node, "clock", (ahead > 0 ? "-38000000000" : 0), 1000000, 0, 0, 2000000,
					65536 + (ahead > 0), (ahead > 0 ? "1700000058000000000" : "1699999000000000000")
		}
	} }' CONVFMT=%.0f OFMT=%.0f | records
	wait_until indexed 30
}
pool few 4 4
pool nothing
pool brief 1 1 90
pool clock
pool silent
pool lost


# says POOL QUESTION STATUS SENTENCE [ROW]: the answer has the sentence (none: -), and the row.
says() {
	check_status "$3" "$1: $2" sh -c "poolscope $2 -p 'acct\$$1'"
	holds "$4" "${5:-}"
}
# asked POOL TOOL SENTENCE [ROW]: the same of an answer of the Model Context Protocol; --with last:1 and the like
# are its arguments in JSON.
asked() {
	echo '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"'"${2%% *}"'","arguments":{"partition":"acct$'"$1"'"'"${2#"${2%% *}"}"'}}}' >"$TMP/ask"
	check "$1: mcp $2" sh -c 'poolscope mcp <"$TMP/ask"'
	# As the terminal shows it: the text, without the marks between columns.
	/usr/bin/python3 -c 'import json, sys
result = json.load(sys.stdin)["result"]
of = result["structuredContent"]
print(*(note if isinstance(note, str) else note.get("text") for note in of.get("notes", [])), of.get("error", ""))
for table in of.get("tables", {}).values():
    for row in table["rows"]: print(*row)' <"$TMP/out" >"$TMP/shown" && mv "$TMP/shown" "$TMP/out"
	holds "$3" "${4:-}"
}
# Sentences of why are in lines of 80 columns.
holds() {
	tr '\n' ' ' <"$TMP/out" | sed 's/  */ /g' >"$TMP/line"
	for _part in "$1" "$2"; do
		case $_part in
		"" | -) ;;
		*) check_text "... has it" "$_part" "$(grep -oF -e "$_part" "$TMP/line" | head -1)" ;;
		esac
	done
}
LOST="3 records of this time were lost (1 gap): poolscope dump --kind gap shows which"
CLOCK="clock of n14 was set by 38.0 s in this time: what lasted across that may be off by as much (poolscope stats clocks)"
WORDS="the model does not say what phases wait for (after, after_any, end_after, places: poolscope-model(5))"
FEW="1 new and 3 old; about 7 of each would decide"
NONE="there are no samples of the node in this time"
BRIEF="there are too few samples of the node in this time"
SLOW="n14 pool:load redis 60.0 s 22.0 s 38.0 s 36.0 s"

# ---- critical, what if: one start is enough, and no samples are needed
ON_PATH="10.0 s 60.0 s in n14 pool:load redis 36.0 s"
EARLIER="best 40.0 s 30.0 s n14"
HALF="stats whatif --length load=0.5"
for pool in nothing brief; do
	says $pool "stats critical" 0 - "$ON_PATH"
	says $pool "$HALF" 0 - "$EARLIER"
done
says few "stats critical --newest 20" 0 - "pool:load redis 240.0 s 4"
says few "$HALF" 0 - "$EARLIER"
says clock "stats critical" 0 "$CLOCK" "10.0 s 24.0 s in n"
says clock "$HALF" 0 "$CLOCK" "recorded 34.0 s"
says silent "stats critical" 0 "$WORDS" "10.0 s 60.0 s in n14 silent:load redis"
check_status 1 "silent: stats whatif" poolscope stats whatif --length load=0.5 -p 'acct$silent'
check_printed "... has a sentence" "$WORDS"
says lost "stats critical" 0 "$LOST" "$ON_PATH"
says lost "$HALF" 0 "$LOST" "$EARLIER"

# ---- stragglers
says few "stats stragglers" 0 "cannot judge 22 phases: fewer than 12 nodes had them in this start, and these nodes fewer than 12 times in the last 20 starts"
says nothing "stats stragglers" 0 "$NONE" "$SLOW"
says brief "stats stragglers" 0 "$BRIEF" "$SLOW"
says clock "stats stragglers" 0 "$CLOCK" "n14 pool:load redis 60.0 s 22.0 s 38.0 s 0 s clock 100.0 % its clock was set by 38.0 s"
says silent "stats stragglers" 0 "$WORDS" "n14 silent:load redis 60.0 s 22.0 s 38.0 s - disk"
says lost "stats stragglers" 0 "$LOST" "$SLOW disk"

# ---- comparison: of one start with 3 before it, and of one with none
says few "compare --with last:1" 4 "$FEW" "p50:pool:load 11 nodes; redis - 22.00 22.00"
for pool in nothing brief silent; do
	says $pool compare 4 "there is nothing to compare with: 7 old and 7 new runs, or 9 and 5, are the least that can decide" ":load 14 nodes; redis - - 22.00"
done
says clock compare 4 "$CLOCK" "ready 14 nodes; redis undecided - 34.00"
says lost compare 4 "$LOST" "ready 14 nodes; redis undecided - 70.00"

# ---- in sentences
READY="nodes are ready since"
says few why 0 "The 3 starts before took 70.0 s." "n14 lost most: load of redis took 60.0 s, usually 22.0 s."
says nothing why 0 "$NONE" "$READY"
says brief why 0 "$BRIEF" "$READY"
says clock why 0 "The $CLOCK." "its clock was set by 38.0 s (100 % of what it lost)."
says silent why 0 "What nodes waited for of each other is not known: the model does not say it" "70 % of the time, others 10 %"
says lost why 0 "$LOST." "$READY"

# ---- by the Model Context Protocol
asked few 'compare ,"with":"last:1"' "$FEW" "70.0"
asked few stragglers "cannot judge 22 phases"
asked nothing stragglers "$NONE" "n14 pool:load redis 60"
asked brief stragglers "$BRIEF" "n14 pool:load redis 60"
asked clock critical "$CLOCK" "pool:load"
asked silent critical "$WORDS" "n14 silent:load redis"
asked silent 'whatif ,"length":["load=0.5"]' "$WORDS"
asked lost why "$LOST" "14 nodes are ready"
