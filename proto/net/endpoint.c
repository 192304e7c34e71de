/*
 * endpoint - the address of a listener.
 * SPDX-License-Identifier: MIT
 */
#include "proto/net/endpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/os/lockfile.h"
#include "proto/os/owner/trusted_dir.h"

_Static_assert(
    sizeof(((struct sockaddr_un *)NULL)->sun_path) == ENDPOINT_PATH_BYTES,
    "ENDPOINT_PATH_BYTES is the size of sun_path");

static const char *
after(const char *endpoint, const char *prefix)
{
	size_t bytes = strlen(prefix);

	return strncmp(endpoint, prefix, bytes) == 0 ? endpoint + bytes : NULL;
}

const char *
endpoint_path(const char *endpoint)
{
	return after(endpoint, "ipc://");
}

int
endpoint_check(const char *endpoint, struct err *err)
{
	const char *path = endpoint_path(endpoint);

	if (strlen(endpoint) >= ENDPOINT_BYTES_MAX)
		return err_set(err, "an endpoint is longer than %d bytes",
		    ENDPOINT_BYTES_MAX - 1);
	if (path == NULL && after(endpoint, "tcp://") == NULL)
		return err_set(err,
		    "%s: an endpoint begins with ipc:// or tcp://", endpoint);
	if (path == NULL)
		return 0;
	/* A name with @ is abstract and has no permissions; * is a temporary
	 * file. */
	if (path[0] == '\0' || path[0] == '@' || path[0] == '*')
		return err_set(err, "%s: ipc needs a file path", endpoint);
	if (strlen(path) >= ENDPOINT_PATH_BYTES)
		return err_set(err,
		    "%s: the path is longer than %d bytes, the maximum of a "
		    "Unix socket",
		    endpoint, ENDPOINT_PATH_BYTES - 1);
	return 0;
}

bool
endpoint_is_deserted(const char *path, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int why = 0;

	if (fd < 0)
		return false;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		why = errno;
	close(fd);
	/* EAGAIN: its queue is full. */
	if (why == 0 || why == EAGAIN || why == EINPROGRESS || why == EINTR)
		return false;
	if (why == ENOENT || why == ECONNREFUSED)
		err_set(err, "nobody listens there");
	else
		err_set(
		    err, "ipc://%s cannot be reached: %s", path, strerror(why));
	return true;
}

bool
endpoint_any_tcp(const char *const *endpoints, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (after(endpoints[i], "tcp://") != NULL)
			return true;
	return false;
}

int
endpoint_bindable(
    char to[static ENDPOINT_BYTES_MAX], const char *endpoint, struct err *err)
{
	const char *number = after(endpoint, "tcp://localhost:");
	int n;

	if (number != NULL)
		n = snprintf(
		    to, ENDPOINT_BYTES_MAX, "tcp://127.0.0.1:%s", number);
	else
		n = snprintf(to, ENDPOINT_BYTES_MAX, "%s", endpoint);
	if (n < 0 || n >= ENDPOINT_BYTES_MAX)
		return err_set(err, "an endpoint is longer than %d bytes",
		    ENDPOINT_BYTES_MAX - 1);
	return 0;
}

int
endpoint_claim(struct endpoint_claim *claim, const char *path, struct err *err)
{
	char lock[ENDPOINT_PATH_BYTES + 8];
	struct stat there;
	long holder;

	if (trusted_dir_own_parent(path, err) != 0)
		return -1;
	if (lstat(path, &there) == 0 && !S_ISSOCK(there.st_mode))
		return err_set(err, "%s exists and is not a socket", path);
	snprintf(lock, sizeof(lock), "%s.lock", path);
	if (lockfile_take(&claim->lockfile, lock, &holder, err) != 0) {
		if (holder > 0)
			err_set(err,
			    "ipc://%s: process %ld already listens there", path,
			    holder);
		return -1;
	}
	claim->path = memory_string(path);
	return 0;
}

void
endpoint_bound(struct endpoint_claim *claim)
{
	claim->held = held_file_add(claim->path, NULL, NULL);
}

void
endpoint_release(struct endpoint_claim *claim)
{
	if (claim->path == NULL)
		return;
	held_file_drop(&claim->held);
	/* Nobody else listens there while we hold the lock. */
	unlink(claim->path);
	free(claim->path);
	claim->path = NULL;
	lockfile_release(&claim->lockfile);
}
