#!/bin/sh
# A report without names, of a pool of 10,000 nodes.  Everything that somebody named has "qzx" in
# it: account, pool, nodes, images, phases without a model, groups, paths, runs, users, disks, jobs, texts of events and
# spans.  The file, unpacked, must not have it anywhere, in no case.  Node i prepares for i + 1 ms
# and has i as a sample, so that each answer says which node a number is: the same one everywhere.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
BASE=$(($(date +%s) - 600))
. "$(dirname "$0")/../scenario/lib.sh"
PARTITION='qzxacct$qzxpool'
NODES=${NODES:-$((10000 / ${SHARE:-1}))}

# judge WORD...: the rules of this test, in Python, on $TMP/r.html.
judge() {
	/usr/bin/python3 - "$TMP/r.html" "$@" <<'END'
import base64, gzip, json, re, sys, zlib

path, word, *rest = sys.argv[1:]
text = open(path, encoding="utf-8").read()
blocks = {name: gzip.decompress(base64.b64decode(data)) for name, data in
          re.findall(r'<script type="application/octet-stream" id="(\w+)">([^<]*)</script>', text)}
whole = [re.sub(r">[^<>]{1000,}</script>", "></script>", text).encode() if word == "none" else text.encode(), *blocks.values()]
trace = blocks.get("trace", b"")
for at in range(len(trace) - 2):  # packets that are compressed
    if trace[at] == 0x78 and (trace[at] << 8 | trace[at + 1]) % 31 == 0:
        try:
            whole.append(zlib.decompressobj().decompress(trace[at:]))
        except zlib.error:
            pass
if word == "none":
    # As it is, and written as %71, \u0071 or &#113;.
    for each in whole:
        for form in (b"qzx", b"%71", b"\\u0071", b"&#113;", b"&#x71;"):
            found = re.search(re.escape(form), each, re.I)
            if found:
                sys.exit("left: %r" % each[max(0, found.start() - 60):found.end() + 40])
elif word == "some":
    for text in (b"qzxacct", b"/qzx/data/", b"Qzxowner", b"/home/QZXuser/", b"because-qzx-", b"Qzxcustomer", b"qzxsolo"):
        if not any(text in each for each in whole[1 + list(blocks).index("trace"):]):
            sys.exit("the trace has no %r: it could not be left in it" % text)
else:
    answers = {key.partition("/")[2].partition("/")[2]: json.loads(value)
               for key, value in json.loads(blocks["data"])["answers"].items() if key.startswith("pools/")}
    # Which node a number is, says the duration.
    prepared = {row["node"]: round(row["max"] * 1000) for row in answers["phases?by=node"]["rows"]
                if row["phase"] == "cascade:nodeprep"}
    nodes = int(rest[0])
    own = {row["phase"] for row in answers["phases"]["rows"] if row["phase"].startswith("none:")}
    assert own == {"none:phase-1", "none:phase-2", "none:phase-3"}, own
    events = {word for row in answers["phases"]["rows"] if row["phase"] in own for word in (row.get("start"), row.get("end"))}
    assert events <= {None} | {"phase-%d%s" % (i, end) for i in (1, 2, 3) for end in ("-start", "-end", ":begin", ":start", ":end")}, events
    wanted = list(range(nodes - 199, nodes + 1))  # the worst 200
    assert sorted(prepared.values()) == wanted, "not all nodes have a number of their own: %s" % sorted(prepared.values())[:9]
    states = [row["node"] for row in answers["nodes?columns=node,state"]["rows"]]
    assert sorted(states) == sorted("node-%d" % (i + 1) for i in range(nodes)), "states of %d nodes" % len(states)
    assert set(prepared) <= set(states), "a node has another number"
    rows = answers["breakdown"]["rows"]
    both = [node for node in rows["node"] if node in prepared]
    assert len(set(rows["node"])) == len(rows["node"]) and both, "the breakdown"
    for node, seconds in zip(rows["node"], rows["cascade:nodeprep"]):
        assert node not in prepared or abs(prepared[node] - seconds * 1000) < 1, "%s is two nodes in the breakdown" % node
    groups = {row["group"] for row in answers["samples"]["rows"]}
    assert groups == {"network/device-1", "app/device-2"} or groups == {"network/device-2", "app/device-1"}, groups
END
}

aggregate
/usr/bin/python3 - "$NODES" <<'END' >"$TMP/lines"
import sys
nodes = int(sys.argv[1])
for i in range(nodes):
    node = f"qzxnode-{i * 2654435761 % 2 ** 32:08x}"
    print(f"event {i % 300} {node} nodeprep:start message=qzxmessage-{i % 7}")
    print(f"event {i % 300 + (i + 1) / 1000:.3f} {node} nodeprep:end")
    print(f"event {300 + i % 60} {node} cascade:pull-start img=qzxreg.example/qzxteam/app:{i % 30}")
    print(f"event {330 + i % 60} {node} cascade:pull-end img=qzxreg.example/qzxteam/app:{i % 30}")
    if i < 40: # phases without a model
        for at, event in enumerate(("Qzxcustomer:deploy-start", "Qzxcustomer:deploy-end", "qzxsolo:begin", "qzxsolo:end", "qzx:a:start", "qzx:a:end")):
            print(f"event {600 + i + at} {node} {event} step=qzx-{i % 3}")
    if i < 40 or i >= nodes - 200: # the first ones, which runs are on, are those of the trace
        print(f"span {100 + i % 9} {200 + i % 9} {node} track-{i % 3} step file=/qzx/data/{i}.bin owner=Qzxowner")
        print(f"event 250 {node} farm:done path=/home/QZXuser/job{i} text=because-qzx-{i}")
    if i >= nodes - 200:
        print(f"group {node} network/qzxeth0 system.network.io.receive:By:counter")
        print(f"sample 400 {node} network/qzxeth0 1000")
        print(f"sample 410 {node} network/qzxeth0 {2000 + i}")
        print(f"define {node} app/qzx/home app.metric:By:gauge")
        print(f"sample 400 {node} app/qzx/home 1")
        print(f"sample 410 {node} app/qzx/home {i}")
print("entity qzxnode-00000000 job qzxjob-1 name=qzxjobname command=/qzx/bin/run")
print("entity qzxnode-00000000 node qzxnode-00000000 image=qzximage host=qzxhost.example")
for run in range(40):
    node, more = f"qzxnode-{run * 2654435761 % 2 ** 32:08x}", f"request_id=qzxrun-{run} device_group=qzxboard-{run % 3} requestor=qzxalice"
    for k, name in enumerate(("run:requested", "run:queue_end", "run:flash_start", "run:flash_end", "run:end")):
        print(f"event {420 + run + k} {node} {name} run=qzxrun-{run} group=qzxboard-{run % 3} {more}")
END
records <"$TMP/lines"
# An aggregator must answer within 10 s; one that a sanitizer slows down may not.
# The store has no such limit.
report() {
	poolscope-report --store "$DIR/store" -p "$PARTITION" --quiet "$@"
}
check "a report with names" report -o "$TMP/r.html" --with-trace
check "has them" judge some
check "a report without names" report -o "$TMP/r.html" --with-trace --anonymise
check "has none of them" judge none
check "of at most 400 KB without its trace" sh -c 'test "$(grep -v "id=\"trace\"" "$0" | wc -c)" -le 400000' "$TMP/r.html"
check "the same name has the same number in each answer" judge nodes "$NODES"
for format in md text; do
	check "findings as $format" report -o "$TMP/r.$format" --anonymise --format "$format"
	check_text "... have no name" "" "$(grep -i qzx "$TMP/r.$format" | head -n 3)"
done
