/*
 * shim - stands between the program and the C library where the disk or the
 * memory may refuse.
 *
 * These definitions take precedence over the library's, for the program and
 * for the shared libraries that it uses.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/fault/nth/nth.h"
#include "tests/fault/opens.h"

static struct {
	bool armed, sticky, spare;
	atomic_bool hit, *reported;
	enum nth_how how;
	uint64_t n;
	_Atomic uint64_t count; /* programs have threads */
} fault;

void
nth_tell(atomic_bool *hit)
{
	fault.reported = hit;
}

void
nth_arm(enum nth_how how, uint64_t n, bool sticky)
{
	fault.how = how;
	fault.n = n;
	fault.sticky = sticky;
	fault.count = 0;
	fault.hit = false;
	fault.armed = true;
}

void
nth_disarm(void)
{
	fault.armed = false;
}

void
nth_spare_malloc(bool spare)
{
	fault.spare = spare;
}

bool
nth_was_hit(void)
{
	return fault.hit;
}

static bool
is_due(void)
{
	uint64_t count = atomic_fetch_add(&fault.count, 1) + 1;

	if (count != fault.n && !(fault.sticky && count > fault.n))
		return false;
	fault.hit = true;
	if (fault.reported != NULL)
		*fault.reported = true;
	return true;
}

/* Does this operation fail?  errno says how. */
static bool
refused(bool writes)
{
	if (!fault.armed || fault.how == NTH_MALLOC ||
	    (!writes && fault.how >= NTH_EINTR) || !is_due())
		return false;
	errno = fault.how == NTH_ENOSPC ? ENOSPC
		: fault.how == NTH_EIO  ? EIO
					: EINTR;
	return true;
}

/* What the program says is no business of the disk. */
static bool
is_disk(int fd)
{
	struct stat st;

	return fault.armed && fd != STDERR_FILENO && fstat(fd, &st) == 0 &&
	       (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

/* How much of `bytes` a call may write: all, half, or (-1) none. */
static ssize_t
allowed(int fd, size_t bytes)
{
	if (!is_disk(fd) || !refused(true))
		return (ssize_t)bytes;
	if (fault.how != NTH_SHORT)
		return -1;
	return bytes > 1 ? (ssize_t)bytes / 2 : (ssize_t)bytes;
}

ssize_t
write(int fd, const void *data, size_t bytes)
{
	REAL(ssize_t, "write", int, const void *, size_t);
	ssize_t most = allowed(fd, bytes);

	return most < 0 ? -1 : real(fd, data, (size_t)most);
}

ssize_t
pwrite(int fd, const void *data, size_t bytes, off_t at)
{
	REAL(ssize_t, "pwrite", int, const void *, size_t, off_t);
	ssize_t most = allowed(fd, bytes);

	return most < 0 ? -1 : real(fd, data, (size_t)most, at);
}

ssize_t
pwrite64(int fd, const void *data, size_t bytes, off64_t at)
{
	return pwrite(fd, data, bytes, at);
}

/* Half of a list is its first part. */
static int
allowed_parts(int fd, int parts)
{
	if (!is_disk(fd) || !refused(true))
		return parts;
	return fault.how == NTH_SHORT && parts > 1 ? parts / 2 : -1;
}

ssize_t
writev(int fd, const struct iovec *list, int parts)
{
	REAL(ssize_t, "writev", int, const struct iovec *, int);
	int most = allowed_parts(fd, parts);

	return most < 0 ? -1 : real(fd, list, most);
}

ssize_t
pwritev(int fd, const struct iovec *list, int parts, off_t at)
{
	REAL(ssize_t, "pwritev", int, const struct iovec *, int, off_t);
	int most = allowed_parts(fd, parts);

	return most < 0 ? -1 : real(fd, list, most, at);
}

ssize_t
pwritev64(int fd, const struct iovec *list, int parts, off64_t at)
{
	return pwritev(fd, list, parts, at);
}

int
fsync(int fd)
{
	REAL(int, "fsync", int);

	return is_disk(fd) && refused(false) ? -1 : real(fd);
}

int
fdatasync(int fd)
{
	REAL(int, "fdatasync", int);

	return is_disk(fd) && refused(false) ? -1 : real(fd);
}

int
ftruncate(int fd, off_t bytes)
{
	REAL(int, "ftruncate", int, off_t);

	return is_disk(fd) && refused(false) ? -1 : real(fd, bytes);
}

int
ftruncate64(int fd, off64_t bytes)
{
	return ftruncate(fd, bytes);
}

int
fallocate(int fd, int mode, off_t at, off_t bytes)
{
	REAL(int, "fallocate", int, int, off_t, off_t);

	return is_disk(fd) && refused(false) ? -1 : real(fd, mode, at, bytes);
}

int
posix_fallocate(int fd, off_t at, off_t bytes)
{
	REAL(int, "posix_fallocate", int, off_t, off_t);

	return is_disk(fd) && refused(false) ? errno : real(fd, at, bytes);
}

/* ---- names ---- */

int
do_open(int dir, const char *name, int flags, mode_t mode)
{
	REAL(int, "openat64", int, const char *, int, ...);

	if ((flags & O_CREAT) != 0 && refused(false))
		return -1;
	return real(dir, name, flags, mode);
}

int
mkdir(const char *name, mode_t mode)
{
	REAL(int, "mkdir", const char *, mode_t);

	return refused(false) ? -1 : real(name, mode);
}

int
mkdirat(int dir, const char *name, mode_t mode)
{
	REAL(int, "mkdirat", int, const char *, mode_t);

	return refused(false) ? -1 : real(dir, name, mode);
}

int
rename(const char *from, const char *to)
{
	REAL(int, "rename", const char *, const char *);

	return refused(false) ? -1 : real(from, to);
}

int
renameat(int a, const char *from, int b, const char *to)
{
	REAL(int, "renameat", int, const char *, int, const char *);

	return refused(false) ? -1 : real(a, from, b, to);
}

int
renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
	REAL(int, "renameat2", int, const char *, int, const char *, unsigned);

	return refused(false) ? -1 : real(a, from, b, to, flags);
}

int
unlinkat(int dir, const char *name, int flags)
{
	REAL(int, "unlinkat", int, const char *, int);

	return refused(false) ? -1 : real(dir, name, flags);
}

/* ---- memory ---- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
bool
nth_has_malloc(void)
{
	return false;
}
#else
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *at, size_t bytes);

bool
nth_has_malloc(void)
{
	return true;
}

static bool
starved(void)
{
	if (!fault.armed || fault.spare || fault.how != NTH_MALLOC || !is_due())
		return false;
	errno = ENOMEM;
	return true;
}

void *
malloc(size_t bytes)
{
	return starved() ? NULL : __libc_malloc(bytes);
}

void *
calloc(size_t count, size_t bytes)
{
	return starved() ? NULL : __libc_calloc(count, bytes);
}

void *
realloc(void *at, size_t bytes)
{
	return starved() ? NULL : __libc_realloc(at, bytes);
}
#endif
