# An instance for the users of a host: up --share GROUP, and whose it is otherwise.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2317
. "$(dirname "$0")/lib.sh"
if [ "$(id -u)" -ne 0 ]; then
	echo "SKIPPED - another user's instance: this test needs root"
	exit 0
fi
POOLSCOPE_PARTITION=acct\$pool
export POOLSCOPE_PARTITION
trap 'poolscope down >/dev/null; _end' EXIT

# Numbers that have no name: one in the group, one in none.
GROUP=54321
member() { setpriv --reuid 54322 --regid 54322 --groups "$GROUP" -- "$@"; }
stranger() { setpriv --reuid 54323 --regid 54323 --clear-groups -- "$@"; }
chmod 711 "$TMP"

check "an instance" poolscope up --agent
check_status 1 "another user cannot emit" stranger poolscope-emit test alone
check_printed "... and learns why" "agent.sock: permission denied: the agent is another user's, who can share it"
chmod 700 "$DIR"
check_status 2 "... nor where the whole directory is private" stranger poolscope-emit test alone
check_printed "... and learns whose instance it is" \
	"$DIR: belongs to user 0, who has not shared it (poolscope up --share GROUP)"
check_status 1 "nor end it" stranger poolscope down
check_printed "... and does not hear that nothing runs" "belongs to user root"
check_status 1 "nor start it" stranger poolscope up
check_printed "... with the same reason" "belongs to user root"
check "it ends" poolscope down
check_status 1 "it cannot be shared with a group that does not exist" poolscope up --share no-such-group
check_printed "... and says what is needed" "group no-such-group: it must exist"

check "it is shared" poolscope up --agent --share "$GROUP"
check_printed "... and says so" "shared     with group $GROUP"
check "a member emits, and hears that it is stored" member poolscope-emit test member --wait stored
check "a member reads" member poolscope-dump --kind event
check_printed "... what was emitted" '"name": "member"'
check_status 1 "a member does not read the store" member poolscope-dump --kind event --store "$DIR/store"
check "a user who is no member leaves an event in the fallback queue" \
	stranger poolscope-emit test queued
check "the agent takes it from there" wait_until \
	"poolscope-dump --kind event | grep -q '\"name\": \"queued\"'" 30
check "logs and store stay private" test "$(stat -c %a "$DIR/log" "$DIR/store" | sort -u)" = 700
