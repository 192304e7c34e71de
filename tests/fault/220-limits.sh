#!/bin/sh
# A store or a spool cannot grow: each limit has a sentence of its own, in
# poolscope status and in the log, and says what to do.  Needs root for a small
# file system of its own; there is no quota here, so a library plays one.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
# shellcheck disable=SC2016 # a partition's name
. "$(dirname "$0")/../flow/lib.sh"

cat >"$TMP/quota.c" <<'END'
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
/* Files of more than $QUOTA bytes meet a quota. */
static int over(int fd, long long end)
{
	struct stat st;
	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    end > atoll(getenv("QUOTA")) && end > st.st_blocks * 512 ? (errno = EDQUOT) : 0;
}
ssize_t pwrite(int fd, const void *at, size_t n, off_t to)
{ return over(fd, to + (long long)n) ? -1 : syscall(SYS_pwrite64, fd, at, n, to); }
ssize_t pwrite64(int fd, const void *at, size_t n, off_t to) { return pwrite(fd, at, n, to); }
ssize_t pwritev(int fd, const struct iovec *v, int n, off_t to)
{
	long long bytes = 0;
	for (int i = 0; i < n; i++)
		bytes += (long long)v[i].iov_len;
	return over(fd, to + bytes) ? -1 : syscall(SYS_pwritev, fd, v, n, to, 0);
}
ssize_t pwritev64(int fd, const struct iovec *v, int n, off_t to) { return pwritev(fd, v, n, to); }
int posix_fallocate(int fd, off_t from, off_t n) { return over(fd, from + n) ? EDQUOT : 0; }
int posix_fallocate64(int fd, off_t from, off_t n) { return posix_fallocate(fd, from, n); }
END
check "a quota of our own is made" cc -shared -fPIC -o "$TMP/quota.so" "$TMP/quota.c"
mkdir "$TMP/small"
mount -t tmpfs -o size=6m tmpfs "$TMP/small" || exit 1
_code=0
trap '_code=$?; umount -l "$TMP/small"; (exit $_code); _end' EXIT

# Events that fill 6 MiB, under numbers that do not compress.
python3 -c '
import hashlib
for i in range(9000):
    print("s e%d %s" % (i, " ".join(hashlib.sha256(b"%d %d" % (i, j)).hexdigest() for j in range(15))))' >"$TMP/lines"

# under LIMIT COMMAND...: as a script of its own, for `start`.
under() {
	cat >"$TMP/limited" <<END
#!/bin/sh
$1
exec $2 "\$@"
END
	chmod +x "$TMP/limited"
}
preload="QUOTA=4194304 LD_PRELOAD=$TMP/quota.so ASAN_OPTIONS=\${ASAN_OPTIONS:-}:verify_asan_link_order=0
export QUOTA LD_PRELOAD ASAN_OPTIONS"

is_critical() { poolscope-stats status 2>/dev/null | head -1 | grep -q '^critical: nothing is stored; .*/store.*'; }

# store NAME LIMIT STORE SENTENCE OPTIONS...
store() {
	_what=$1 _sentence=$4 _store=$3
	under "$2" "$(command -v poolscope-aggregator)"
	shift 4
	start aggregator "$TMP/limited" --store "$_store" "$@" || exit 1
	start broker poolscope-broker || exit 1
	start agent poolscope-agent --no-samples --no-clock -p 'a$l' -n n1 --free-bytes 0 \
		--drain 10ms || exit 1
	poolscope-emit -q --stdin <"$TMP/lines" >"$TMP/emit" 2>&1
	check "$_what: status is critical" wait_until is_critical 60
	check_status 3 "... and the exit status says it" poolscope-stats status
	check_printed "... it names the limit and what to do" "^critical: nothing is stored; .*$_sentence"
	check "... as the log does" grep -q "full.*$_sentence" "$TMP/aggregator.log"
	stop agent
	stop broker
	stop aggregator
	check_text "... the aggregator goes on until it is stopped" 0 "$STATUS"
	rm -rf "$DIR/spool" "$_store"
	: >"$TMP/aggregator.log"
}
store "a map" : "$DIR/store" 'the map is full, of 4194304 bytes (--map-bytes); start with a larger one' --map-bytes 4MiB
store "a disk" : "$TMP/small/store" 'the disk is full; make room on it'
store "a limit of files" 'ulimit -f 8192' "$DIR/store" 'as large as this process may make one; raise the limit (ulimit -f'
store "a quota" "$preload" "$DIR/store" 'the disk quota of this user or directory is used up'

# spool NAME LIMIT SPOOL SENTENCE
spool() {
	under "$2" "$(command -v poolscope-agent)"
	start agent "$TMP/limited" --no-samples --no-clock -p 'a$l' -n n1 --free-bytes 0 --drain 10ms \
		--spool "$3" --segment-bytes 4MiB || exit 1
	poolscope-emit -q --stdin --timeout 5s --fallback /dev/null/x <"$TMP/lines" >"$TMP/emit" 2>&1
	check_text "$1: emit ends with 75" 75 "$?"
	check "... and the log names the limit" wait_until "grep -q 'spool is full.*$4' \"\$TMP/agent.log\""
	stop agent
	rm -rf "$3"
	: >"$TMP/agent.log"
}
spool "a disk under a spool" : "$TMP/small/spool" 'the disk is full; make room on it'
spool "a quota under a spool" "$(echo "$preload" | sed s/4194304/2097152/)" "$DIR/spool" 'the disk quota of this user'
spool "a limit of files under a spool" 'ulimit -f 4096' "$DIR/spool" 'raise the limit (ulimit -f'
