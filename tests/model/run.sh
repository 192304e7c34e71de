# The models of delivery and of the archive, checked exhaustively by spin: the
# right protocols have no error, whatever happens to stores and machines, and each
# mistake is found.  One line a variant.
# SPDX-License-Identifier: MIT
set -u
models=$(cd "$(dirname "$0")" && pwd)
command -v spin >/dev/null || {
	echo "FAILED - spin is not installed (apt-get install spin)"
	echo "0 passed, 1 failed"
	exit 1
}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
cp "$models"/*.pml . || exit 1 # spin puts its trails there
model=delivery.pml
passed=0 failed=0

# check NAME WANT [MACRO...]: WANT is "right" or "wrong".
check() {
	name=$1 want=$2
	shift 2
	trouble="" # what is wrong with the check itself
	if ! { spin -a "$@" "$model" && ${CC:-cc} -O1 -w -DSAFETY -DMEMLIM=3500 -o pan pan.c; } >log 2>&1; then
		trouble="does not build"
	elif ! timeout 900 ./pan -E -m1000000 >log 2>&1; then
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

check "the protocol" right -DN=3 -DCRASHES=1
check "with two crashes" right -DCRASHES=2
check "with a store that is lost" right -DLOST_STORE
check "with a store that comes back from a backup" right -DRESTORED_STORE
check "with a spool that is copied" right -DCOPIED_SPOOL -DCRASHES=0
check "with a disk that comes back from a backup" right -DROLLED_BACK -DCRASHES=0
check "with a machine that is copied while it runs" right \
	-DCLONE -DN=3 -DCRASHES=0
check "the claim that it never ends" wrong -DNEVER_DONE
check "accept before sync" wrong -DACCEPT_BEFORE_SYNC
check "send before sync" wrong -DSEND_BEFORE_SYNC
check "acknowledge before commit" wrong -DACK_BEFORE_COMMIT
check "accept gaps" wrong -DACCEPT_GAPS
check "record and row in two transactions" wrong -DSPLIT_TRANSACTION
check "the same session after a start" wrong \
	-DSAME_SESSION -DROLLED_BACK -DN=3 -DCRASHES=0
check "no comparison" wrong -DNO_COMPARISON -DCLONE -DN=3 -DCRASHES=0
check "no running hash" wrong \
	-DNO_CHAIN -DCLONE -DCOPIED_EARLY -DN=4 -DL=3 -DCRASHES=0
check "a welcome taken for an acknowledgement" wrong \
	-DTRUST_WELCOME -DCLONE -DN=3 -DCRASHES=0
check "moved batches that do not say where from" wrong \
	-DFORGET_ORIGIN -DCLONE -DCOPIED_EARLY -DN=3
check "a session that is forgotten when the store changes" wrong \
	-DFORGET_RETAINED -DLOST_STORE

model=archive.pml
check "the archive" right
check "the archive: a copy of the store" right -DCOPY
check "the archive: two heads claim at once" right -DAT_ONCE
check "the archive: a store of before comes back" right -DWENT_BACK
check "the archive: an empty one takes its place" right -DREPLACED
check "the archive: the claim that nobody takes over" wrong -DNEVER_TAKEN
check "the archive: one replica is enough" wrong -DVERIFY_ONE
check "the archive: marks are removed when rows were sent" wrong -DCLEAR_EARLY
check "the archive: the epoch before has no end" wrong -DNO_UNTIL
check "the archive: its end is what it has then" wrong -DUNTIL_LATER
check "the archive: its end is on one replica" wrong -DUNTIL_ONE
check "the archive: nobody looks whether the other one went on" wrong -DNO_LOOK
check "the archive: whichever replica answers" wrong -DANY_REPLICA
check "the archive: claims by rows and a look" wrong -DAT_ONCE -DLEASE
check "the archive: what is sent again has a higher version" wrong -DVERSIONS
check "the archive: a copy has the same epoch" wrong -DCOPY -DSAME_EPOCH
check "the archive: a store that does not know that it is older" wrong \
	-DWENT_BACK -DNO_COUNTER
check "the archive: a store that does not know its archive" wrong -DREPLACED -DNO_ID

model=stages.pml
check "a pass in stages" right
check "a pass: the claim that nobody takes over" wrong -DNEVER_TAKEN
check "a pass: streams do not wait for their records" wrong -DSTREAMS_FIRST
check "a pass: streams and statistics at once" wrong -DTOGETHER
check "a pass: one look for both" wrong -DLOOK_ONCE
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
