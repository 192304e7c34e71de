#!/bin/sh
# Make the pictures that README.md shows, into deploy/screenshots: of a generated pool of 60 nodes,
# of a farm of devices, and of this machine under eight names.
#
#	make -j2 && sh tests/web/screenshots.sh
#
# Not a test: nothing is judged.  Look at the pictures before you commit them.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/../parts/serve.sh"
# shellcheck source=tests/web/lib.sh
. "$(dirname "$0")/lib.sh"

start aggregator poolscope-aggregator || exit 1
start broker poolscope-broker || exit 1
check "a pool that started three times" poolscope-generate pool --nodes 60 --starts 3 -p 'demo$pool' --quiet
check "a farm" poolscope-generate testrun --runs 60 --spacing 21600 --base now -p 'demo$farm' --quiet
n=1
while [ $n -le 8 ]; do
	start "agent$n" poolscope-agent --dir "$TMP/node$n" -p 'demo$cluster' -n "cn00$n" --period 1s \
		--broker "ipc://$DIR/run/broker.ipc" || exit 1
	check "cn00$n begins" poolscope-emit --dir "$TMP/node$n" nodeprep start --message 'offer=Debian,sku=12'
	n=$((n + 1))
done
for n in 1 2 3 5; do
	check "cn00$n is ready" poolscope-emit --dir "$TMP/node$n" nodeprep end --wait stored
	check "cn00$n pulls" poolscope-emit --dir "$TMP/node$n" cascade pull-start --message 'img=worker:3'
done
wait_until indexed 60
page_start
terminal() {
	tmux -S "$TMP/tmux" -f /dev/null "$@"
}
terminal new-session -d -x 100 -y 16 "LC_ALL=C.UTF-8 poolscope-top -p 'demo\$cluster'"
sleep 15
terminal capture-pane -p -e >"$TMP/top"
terminal kill-server
mkdir -p "$ROOT/deploy/screenshots"
page_judge screenshots.mjs "$TMP/top" "$ROOT/deploy/screenshots"
stop web
