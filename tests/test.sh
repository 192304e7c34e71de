# test - build what some tests need, and run them.
#
#   make test T=unit/sender
#   make test T="flow/030 unit/proto/net" VARIANT=asan
#
# Each word is a suite, or a suite and the beginning of a test's name: see
# tests/check.sh.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
. tests/suites.sh
VARIANT=${VARIANT:-release}
if [ -z "${1:-}" ]; then
	echo "usage: make test T=SUITE[/NAME]   (unit fuzz golden scenario flow fault attack parts web model lint)" >&2
	exit 2
fi
B=build
case $VARIANT in
release) ;;
valgrind) B=build/plain ;;
*) B=build/$VARIANT ;;
esac
# shellcheck disable=SC2046,SC2086 # lists of words
set -- "$1" $(targets "$B" $1)
wanted=$1
shift
[ $# -eq 0 ] || make -s -j"$(nproc)" VARIANT="$VARIANT" ${CC:+"CC=$CC"} "$@"
VARIANT=$VARIANT exec sh tests/check.sh "$wanted"
