/*
 * socket - libzmq hears only of errors that it expects.
 * SPDX-License-Identifier: MIT
 */
#undef _FORTIFY_SOURCE /* its recv is a function of another name */

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/net/guard/guard.h"
#include "proto/net/guard/handshake.h"

/* Descriptors have the lowest free number, so that of a connection says how
 * many there are. */
static int
highest(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
	    limit.rlim_cur > GUARD_FILES_MAX)
		return GUARD_FILES_MAX;
	return (int)(limit.rlim_cur - limit.rlim_cur / 4);
}

static int
refuse(int fd)
{
	close(fd);
	errno = ECONNABORTED;
	return -1;
}

/* In place of libc's. */
int
accept4(int listener, __SOCKADDR_ARG address, socklen_t *bytes, int flags)
{
	int fd = (int)syscall(
	    SYS_accept4, listener, address.__sockaddr__, bytes, flags);

	if (!guard_is_libzmq(__builtin_return_address(0)))
		return fd;
	if (fd >= highest())
		return refuse(fd);
	if (fd >= 0) {
		handshake_begin(fd);
		return fd;
	}
	/* A Unix socket aborts for all but ENFILE that are like it. */
	if (errno == EMFILE || errno == ENOBUFS || errno == ENOMEM)
		errno = ENFILE;
	else if (errno != EAGAIN && errno != EINTR && errno != ENFILE)
		errno = ECONNABORTED;
	return -1;
}

/* In place of libc's. */
ssize_t
recv(int fd, void *at, size_t bytes, int flags)
{
	ssize_t n = syscall(SYS_recvfrom, fd, at, bytes, flags, NULL, NULL);

	if (!guard_is_libzmq(__builtin_return_address(0)) ||
	    (n < 0 && errno != ENOMEM) ||
	    (n >= 0 && handshake_allows(fd, at, (size_t)n)))
		return n;
	errno = ECONNRESET;
	return -1;
}

/* In place of libc's. */
ssize_t
send(int fd, const void *at, size_t bytes, int flags)
{
	ssize_t n = syscall(SYS_sendto, fd, at, bytes, flags, NULL, 0);

	/* The error of a connection that timed out is what ICMP reported of it.
	 */
	if (n < 0 && guard_is_libzmq(__builtin_return_address(0)) &&
	    errno != EAGAIN && errno != EINTR)
		errno = ECONNRESET;
	return n;
}

static void
expect(int *error)
{
	switch (*error) {
	case 0:
	case ECONNREFUSED:
	case ETIMEDOUT:
	case EHOSTUNREACH:
	case ENETUNREACH:
	case ENETDOWN: break;
	default: *error = ECONNRESET;
	}
}

/* In place of libc's. */
int
getsockopt(int fd, int level, int name, void *value, socklen_t *bytes)
{
	int rc = (int)syscall(SYS_getsockopt, fd, level, name, value, bytes);

	if (rc == 0 && level == SOL_SOCKET && name == SO_ERROR &&
	    guard_is_libzmq(__builtin_return_address(0)))
		expect(value);
	return rc;
}

bool
guard_has_sockets(void)
{
	return dlsym(RTLD_DEFAULT, "accept4") == (void *)accept4 &&
	       dlsym(RTLD_DEFAULT, "recv") == (void *)recv &&
	       dlsym(RTLD_DEFAULT, "send") == (void *)send &&
	       dlsym(RTLD_DEFAULT, "getsockopt") == (void *)getsockopt;
}
