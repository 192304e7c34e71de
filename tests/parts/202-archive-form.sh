#!/bin/sh
# Events of phases count in their last form only.  A phase without a model gets another
# key, and all phases are rebuilt with other models: then a store and its archive still
# answer the same questions with the same bytes, and rows of before are not counted.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the $ is a partition's
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/parts/clickhouse_server.sh
. "$(dirname "$0")/clickhouse_server.sh"
# shellcheck source=tests/parts/archive.sh
. "$(dirname "$0")/archive.sh"
archive_alone
archive_start || exit 1

# steps NAME KEY: 40 of them on 4 nodes, two at a time on each.
steps() {
	/usr/bin/python3 -c 'import json, sys
for i in range(40):
    for at, event in (0, "start"), (30, "end"):
        print(json.dumps({"ts": "%d.25" % (1650020400 + 20 * (i // 4) + at), "source": "test",
            "event": "%s:%s" % (sys.argv[1], event), "node": "n%d" % (i % 4), "message": sys.argv[2] % i}))' "$@"
}
# equal NAME: the archive answers as the store.
equal() {
	check "$1: it is archived" settled
	check "$1: store and archive are equal" \
		"$B/parts/archive_read" "$CLUSTER/pool" "$TMP/writer" "$DIR/store" 'a$one' 1650020450000000000
	check_printed "... all of it" "400 questions"
}
forms() { query "SELECT count() FROM (SELECT DISTINCT form FROM pool.phases WHERE phase = '$1')"; }

steps step 'of=%d' >"$TMP/steps"
steps load 'id=%d' >>"$TMP/steps"
check "steps without a key are imported" poolscope-import emits -p 'a$one' "$TMP/steps"
equal "without a key"
sed 's/of=/id=/; s/"node": "n/"node": "m/' "$TMP/steps" | grep step: >"$TMP/more"
check "others have one" poolscope-import emits -p 'a$one' "$TMP/more"
equal "with a key"
check_text "rows of before are still there" 2 "$(forms none:test:step)"

# ---- other models
mkdir "$TMP/models"
cp "$ROOT"/deploy/models/*.conf "$TMP/models/"
cat >"$TMP/models/test.conf" <<'END'
message = "kv"
phase "step" {
	start = "test:step:start"
	end = "test:step:end"
	key = "id"
}
END
stop aggregator
check "phases are rebuilt with other models" poolscope-admin rebuild --models "$TMP/models"
start aggregator poolscope-aggregator --archive "$CLUSTER/pool" --archive-password "$TMP/writer" \
	--archive-after 200ms --models "$TMP/models"
equal "with a model"
check_text "the phase without a model is not answered any more" 0 \
	"$(poolscope-dump -q -p 'a$one' --kind phase --connect "$CLUSTER/pool" --archive-password "$TMP/writer" | grep -c none:test:step)"
stop broker
