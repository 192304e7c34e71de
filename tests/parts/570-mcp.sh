#!/bin/sh
# The Model Context Protocol with the official SDK for Python as the client: the tools, each
# asked once in three ways; and stories of tests/scenario that are asked through it, so that
# their answers, which were worked out by hand, are those of the tools.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=tests/scenario/pulls.sh
. "$ROOT/tests/scenario/pulls.sh"
need_python mcp mcp==2.3.0 jsonschema || skip "pip cannot have the SDK of the Model Context Protocol"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY

sdk() {
	"$PARTS/mcp/bin/python" "$ROOT/tests/parts/mcp_sdk.py" "$@"
}

aggregate --models "$TMP/models"
three_pulls | records
wait_until indexed 30 || exit 1
start web poolscope-web --listen 127.0.0.1:0 || exit 1
wait_until 'grep -q "^http://" "$TMP/web.log"'
MCP_URL=$(sed -n 's|^\(http://.*\)/#k=.*|\1/mcp|p' "$TMP/web.log")
MCP_TOKEN=$(sed -n 's|^http://.*/#k=||p' "$TMP/web.log")
export MCP_URL MCP_TOKEN
for way in stdio legacy http; do
	check "the tools, each of them, by $way" sdk "$way" each "$PARTITION"
	check "... calls that are cancelled, twice a beginning, 1,000 calls at once" sdk "$way" rude "$PARTITION"
done

# A folder of programs in which `poolscope stats ... --format csv` asks through the SDK; what
# does not fit into an answer is asked by the command that the answer names.
MCP_ASKED=$TMP/asked MCP_CUT=$TMP/cut REAL=$B
export MCP_ASKED MCP_CUT REAL PARTS
: >"$MCP_ASKED"
: >"$MCP_CUT"
mkdir -p "$TMP/b/bin"
for each in "$B"/*; do
	[ "$(basename "$each")" = bin ] || ln -s "$each" "$TMP/b/"
done
ln -s "$B"/bin/* "$TMP/b/bin/"
rm "$TMP/b/bin/poolscope" "$TMP/b/bin/poolscope-stats"
cat >"$TMP/b/bin/poolscope" <<'END'
#!/bin/sh
program=$(basename "$0")
[ "$program" = poolscope ] && [ "${1:-}" != stats ] && exec "$REAL/bin/poolscope" "$@"
case " $* " in
*" --store "* | *" --tz "* | *" --clock "* | *" --connect "*) exec "$REAL/bin/$program" "$@" ;;
*" --format csv "*) ;;
*) exec "$REAL/bin/$program" "$@" ;;
esac
[ "$program" != poolscope ] || shift
PATH=$REAL/bin:$PATH "$PARTS/mcp/bin/python" - "$@" <<'PY' >"$TMP/words"
import sys
words = sys.argv[1:]
at = words.index("--format")
del words[at:at + 2]
print("\n".join(words))
PY
IFS='
'
set -f # --without '*'
# shellcheck disable=SC2046 # a word a line
PATH=$REAL/bin:$PATH "$PARTS/mcp/bin/python" "$ROOT/tests/parts/mcp_sdk.py" "$MCP_WAY" stats $(cat "$TMP/words")
status=$?
[ $status -ne 9 ] || exec "$REAL/bin/$program" $([ "$program" != poolscope ] || echo stats) "$@"
exit $status
END
chmod +x "$TMP/b/bin/poolscope"
ln -s poolscope "$TMP/b/bin/poolscope-stats"

# story WAY NAME
story() {
	MCP_WAY=$1 B=$TMP/b sh "$ROOT"/tests/scenario/"$2"-*.sh
}
check "a critical path" story stdio 600
check "what if" story legacy 601
check "starts" story stdio 260
check "nodes that are slow" story stdio 521
check "spans" story legacy 081
check "nodes" story stdio 082
check "a timeline" story stdio 480
check "phases by key" story legacy 483
check "lost in the window" story stdio 520-lost
check "they were asked so" test "$(wc -l <"$MCP_ASKED")" -ge 35
echo "# $(wc -l <"$MCP_ASKED") answers by the SDK, $(wc -l <"$MCP_CUT") that are longer than 4 KB"
