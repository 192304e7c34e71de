# all - run every check of tests/lint in parallel; print their output in order.
# A new check is a new NAME.sh in this folder: it is found here.
#
#   sh tests/lint/all.sh COMPILER FLAGS...
#
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/../.."
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT
export TMP
# shellcheck disable=SC2016 # the words are those of the shell that is started
printf '%s\n' tests/lint/headers.sh tests/lint/*.sh | awk '!seen[$0]++ && !/all.sh/' |
	xargs -P "$(nproc)" -I '{}' sh -c '
		check=$1
		shift
		sh "$check" "$@" >"$TMP/$(basename "$check")" 2>&1 || touch "$TMP/failed"' run '{}' "$@"
cat "$TMP"/*.sh
[ ! -e "$TMP/failed" ]
