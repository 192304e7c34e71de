# page - what a browser loads for the page, and how fast it draws the breakdown of 60 and of
# 10,000 nodes in Chromium without a graphics processor.
#
# Peers, measured by hand: netdata 1.37 has 6,377 KB, 1,849 KB compressed, and asks 3 other
# hosts; Prometheus 2.42 has 1,728 KB.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/lib.sh"
PAGE=$PWD/build/parts/page
if ! command -v chromium >/dev/null || [ ! -e "$PAGE/complete" ]; then
	echo "SKIPPED page: make test T=web installs Chromium and what drives it"
	exit 0
fi
python3 tests/golden/cascade/p13_generated_1000/gen.py --nodes 10000 --out "$TMP" --no-emits
poolscope up >/dev/null
poolscope-import cascade "$TMP/entities.jsonl" --quiet
poolscope-import cascade deploy/demo/render-60.jsonl --quiet
wait_indexed

cd exporters/web/page || exit 1
# What a browser loads, which is all but what only a report has.
rm -rf "$TMP/page"
mkdir "$TMP/page"
cp ./* "../../../$B/exporters/web/palette.js" "$TMP/page"
rm "$TMP/page/report.js"
echo "page: $(cat "$TMP"/page/* | wc -c) bytes, compressed $(for each in "$TMP"/page/*; do gzip -9 -c "$each"; done | wc -c)"
echo "goal: 190,000 and 75,000"
cd ../../..
poolscope-web --request-rate 0 --listen 127.0.0.1:0 >"$TMP/web" 2>&1 &
web=$!
for _try in 1 2 3 4 5 6 7 8 9 10; do
	grep -q '#k=' "$TMP/web" && break
	sleep 0.2
done
address=$(grep -o 'http://[^ ]*#k=[^ ]*' "$TMP/web")
for pool in prodacct%24render-60 bigacct%24bigpool; do
	for _run in $(seq "$RUNS"); do
		echo "$pool: $(node tests/web/frames.mjs "$PAGE" "$address" "$(command -v chromium)" "#/pool/$pool/breakdown")"
	done
done
echo "goal: first paint 100 ms, data 250 ms (10,000 nodes: 400 ms), p95 between frames 16.7 ms, in scripts 8 ms"
kill $web
poolscope down
