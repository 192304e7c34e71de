#!/bin/sh
# Completion as somebody types it into bash, zsh and fish: verbs, words, options,
# values, and the partitions and nodes of a running instance.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
if [ "${VARIANT:-release}" != release ]; then
	echo "SKIPPED completion: shells run it, with the release programs"
	exit 0
fi
trap 'poolscope down >/dev/null 2>&1; _end' EXIT
export POOLSCOPE_PARTITION=acct/render POOLSCOPE_NODE=cn001 POOLSCOPE_PERIOD=1s
check "an instance" poolscope up --agent || exit 1
check "its agent" poolscope emit a b --wait stored
check "a node is heard" wait_until 'poolscope nodes -q --format csv 2>/dev/null | grep -q cn001' 30
for shell in bash zsh fish; do
	mkdir "$TMP/$shell"
	for program in "$B"/bin/poolscope*; do
		name=${program##*/}
		case $shell in zsh) file=_$name ;; fish) file=$name.fish ;; *) file=$name ;; esac
		sh deploy/completion.sh "$shell" "$program" >"$TMP/$shell/$file"
		check_text "$shell: every option of $name" "" "$("$program" --help-all |
			sed -n 's/^  \(-[A-Za-z],\)\{0,1\} *--\([a-z0-9-]*\).*/\2/p' |
			while read -r option; do grep -qe "[ -]$option\b" "$TMP/$shell/$file" || echo "$option"; done)"
	done
done

# offers SHELL LINE PATTERN: a tab after the line shows it.
offers() {
	if ! command -v "$1" >/dev/null; then
		echo "SKIPPED $1 is not installed"
		return
	fi
	if [ "$1" = fish ]; then
		# shellcheck disable=SC2016 # for fish
		fish -c 'set fish_complete_path $argv[1]; complete -C $argv[2]' "$TMP/fish" "$2" >"$TMP/shown" 2>&1
	else
		python3 tests/flow/typed.py "$1" "$TMP/$1" "$2	" "$3" >"$TMP/shown" 2>&1
	fi
	check "$1: $2" grep -qE -e "$3" "$TMP/shown"
}
for shell in bash zsh fish; do
	offers "$shell" "poolscope sta" "poolscope stat|status"
	offers "$shell" "poolscope stats ph" "phases"
	offers "$shell" "poolscope keys ro" "rotate"
	offers "$shell" "poolscope emit --mes" "--message"
	offers "$shell" "poolscope up --rea" "--reader"
	offers "$shell" "poolscope emit --wait sto" "stored"
	offers "$shell" "poolscope-dump --format js" "jsonl"
	offers "$shell" "poolscope dump -p a" "acct/render"
	offers "$shell" "poolscope dump -n c" "cn001"
done
# Nothing runs: nothing is offered, nothing is reported, and nobody waits.
poolscope down
for shell in bash zsh; do
	! command -v "$shell" >/dev/null || offers "$shell" "poolscope emit --wait acc" "accepted"
done
check_text "without an instance" "" "$(timeout 1 poolscope partition list --dir "$TMP/none" 2>/dev/null)"
