# The model of delivery, checked exhaustively by spin: the right protocol has
# no error, and each mistake is found.  One line a variant.
# SPDX-License-Identifier: MIT
set -u
model=$(cd "$(dirname "$0")" && pwd)/delivery.pml
command -v spin >/dev/null || {
	echo "FAILED - spin is not installed (apt-get install spin)"
	echo "0 passed, 1 failed"
	exit 1
}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
passed=0 failed=0

# check NAME WANT [MACRO...]: WANT is "right" or "wrong".
check() {
	name=$1 want=$2
	shift 2
	trouble="" # what is wrong with the check itself
	if ! { spin -a "$@" "$model" && ${CC:-cc} -O2 -w -DSAFETY -DCOLLAPSE -o pan pan.c; } >log 2>&1; then
		trouble="does not build"
	elif ! timeout 300 ./pan -E -m1000000 >log 2>&1; then
		trouble="did not end"
	fi
	errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' log)
	states=$(sed -n 's/ *\([0-9.e+]*\) states, stored.*/\1/p' log)
	found=right
	[ "$errors" = 0 ] || found=wrong
	# Without an error the search must have seen everything.
	if [ "$found" = right ] && grep -q 'Search not completed\|depth too small' log; then
		trouble="is not exhaustive"
	fi
	[ "$found" = wrong ] && ! grep -q 'assertion violated' log && trouble=${trouble:-"ends otherwise"}
	if [ -z "$trouble" ] && [ "$found" = "$want" ]; then
		echo "ok - $name: $found, $states states"
		passed=$((passed + 1))
	else
		tail -n 20 log
		echo "FAILED - $name: $found ${trouble}"
		failed=$((failed + 1))
	fi
}

check "the protocol" right -DN=3 -DCRASHES=3
check "with a disk that comes back from a backup" right -DRESTORED_DISK
check "with a disk that is lost" right -DLOST_DISK
check "the claim that it never ends" wrong -DNEVER_DONE
check "accept before sync" wrong -DACCEPT_BEFORE_SYNC
check "send before sync" wrong -DSEND_BEFORE_SYNC -DNUMBERS_ONLY
check "acknowledge before commit" wrong -DACK_BEFORE_COMMIT
check "accept gaps" wrong -DACCEPT_GAPS -DNUMBERS_ONLY
check "record and counter in two transactions" wrong -DSPLIT_TRANSACTION
check "a new session at each start" wrong -DSESSION_PER_START
check "acknowledgements of any session" wrong -DLOST_DISK -DANY_SESSION_ACKS -DNUMBERS_ONLY
check "numbers without running hashes" wrong -DRESTORED_DISK -DNUMBERS_ONLY
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
