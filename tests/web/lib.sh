# lib - for tests of the page, after flow/lib.sh and parts/serve.sh:
#
#	. "$(dirname "$0")/../flow/lib.sh"
#	. "$(dirname "$0")/../parts/serve.sh"
#	. "$(dirname "$0")/lib.sh"
#	page_start
#	page_screens "screens of a farm" <"$TMP/screens"
#
# The browser is Debian's; what drives it is from npm and stays in $PARTS/page.
#
# SPDX-License-Identifier: MIT
# shellcheck shell=sh

PAGE=$PARTS/page
. "$ROOT/deploy/packages.sh"
need_packages parts || exit 1
if ! [ -e "$PAGE/complete" ]; then
	mkdir -p "$PAGE"
	(cd "$PAGE" && npm install --no-audit --no-fund playwright-core@1 axe-core@4 && touch complete) \
		>"$TMP/npm.log" 2>&1 || skip "playwright-core cannot be had: $(tail -n 1 "$TMP/npm.log")"
fi
CHROMIUM=${CHROMIUM:-$(command -v chromium)}
unset http_proxy https_proxy

# page_start [OPTION...]: poolscope-web; its address with the token is in $ADDRESS.
# shellcheck disable=SC2120 # most tests need no option
page_start() {
	start web poolscope-web --listen 127.0.0.1:0 "$@" || exit 1
	wait_until "grep -qo 'http://[^ ]*#k=[^ ]*' '$TMP/web.log'" || exit 1
	ADDRESS=$(grep -o 'http://[^ ]*#k=[^ ]*' "$TMP/web.log" | head -n 1)
}

# page_judge SCRIPT ARGUMENT...: run a script in the browser; each of its lines is a check.
page_judge() {
	_script=$1
	shift
	node "$ROOT/tests/web/$_script" "$PAGE" "$ADDRESS" "$CHROMIUM" "$@" >"$TMP/judged" 2>"$TMP/judged.err"
	_status=$?
	while IFS= read -r _line; do
		case $_line in
		"ok - "*) PASSED=$((PASSED + 1)) ;;
		"FAILED - "*) fail "${_line#FAILED - }" ;;
		*) echo "# $_line" ;;
		esac
	done <"$TMP/judged"
	if [ $_status -gt 1 ] || [ ! -s "$TMP/judged" ] || [ -s "$TMP/judged.err" ]; then
		fail "$_script ran to its end (status $_status)" "$TMP/judged.err"
	fi
}
