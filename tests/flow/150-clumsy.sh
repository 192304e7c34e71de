#!/bin/sh
# What people type who have not read the manual: each line of the list is answered
# with one sentence that names the word that is wrong, and with exit status 2 (wrong
# usage) or 1 (it cannot be done).
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # dollars are parts of names
. "$(dirname "$0")/lib.sh"

trap 'poolscope down >/dev/null 2>&1; _end' EXIT
check "an instance" poolscope up || exit 1
poolscope emit --quiet test hello -p 'acct$pool' -n cn001 --wait stored >/dev/null 2>&1
echo '{ not json' >"$TMP/bad.json"
echo 'phase "x" {' >"$TMP/bad.conf"
: >"$TMP/empty"

# A line is STATUS|PATTERN|COMMAND: words are split at blanks, @ is the test's
# directory.
while IFS='|' read -r status pattern command; do
	case $status in '' | \#*) continue ;; esac
	command=$(printf '%s' "$command" | sed "s|@|$TMP|g")
	# shellcheck disable=SC2086 # words
	timeout 60 poolscope $command >"$TMP/out" 2>"$TMP/err" </dev/null
	got=$?
	lines=$(wc -l <"$TMP/err")
	if [ "$got" -eq "$status" ] && [ "$lines" -ge 1 ] && [ "$lines" -le 2 ] &&
		grep -q -e "$pattern" "$TMP/err" && ! grep -qE 'Assertion|core dumped' "$TMP/err"; then
		pass "poolscope $command"
	else
		{
			echo "exit status $got, not $status; wanted: $pattern"
			cat "$TMP/err"
			head -3 "$TMP/out"
		} >"$TMP/why"
		fail "poolscope $command" "$TMP/why"
	fi
done <"$ROOT/tests/flow/clumsy.txt"
