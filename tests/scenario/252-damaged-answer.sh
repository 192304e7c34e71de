# A disk flipped one bit in the row with the spans of node n2.  poolscope-web does not
# show the spans of n1 and n3 as if they were all: the answer is an error that says how
# much is missing.  Whoever accepts that starts it with --damaged skip, and gets two
# spans; a question that does not need the row is answered in any case.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/lib.sh"

aggregate --compact-after 1d
records <<-'END'
	span 0 5 n1 build compile
	span 0 6 n2 build compile text=flip-this-one
	span 0 7 n3 build compile
	event 10 n1 work:start
END
stop aggregator
flip_bit

client() {
	PORT=$(sed -n 's|^http://127.0.0.1:\([0-9]*\)/.*|\1|p' "$TMP/web.log") \
		TOKEN=$(sed -n 's|^http://.*#k=||p' "$TMP/web.log") \
		/usr/bin/python3 "$ROOT/tests/flow/web_client.py" "$@"
}
spans=/v1/pools/acct%24pool/spans
start web poolscope-web --listen 127.0.0.1:0 || exit 1
check "what is damaged is an error" client refused 500 \
	"1 damaged rows or pages were left out.*--damaged skip accepts it" "$spans"
check "the next answer says so, too" client refused 500 "1 damaged rows" "$spans"
check "what does not need it is answered" client status 200 /v1/pools
stop web
: >"$TMP/web.log"
start web poolscope-web --listen 127.0.0.1:0 --damaged skip || exit 1
check "the rest is what the command gives" client get "$spans"
cp "$TMP/out" "$TMP/got"
poolscope-stats spans --format json --damaged skip >"$TMP/wanted" 2>"$TMP/err"
check "... byte for byte" cmp "$TMP/wanted" "$TMP/got"
check "... two spans" grep -q '"count": 2' "$TMP/got"
stop web
