/*
 * local_listen - binds a Unix socket that programs of this host submit to.
 * SPDX-License-Identifier: MIT
 */
#include "agents/accept/local_listen.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/config/instance.h"
#include "proto/os/owner/socket_file.h"
#include "proto/os/owner/trusted_dir.h"

enum { BACKLOG = 512 };

static int
listen_at(int fd, const struct sockaddr_un *address, int type, struct err *err)
{
	const char *path = address->sun_path;
	mode_t mask = socket_file_begin(true);
	int rc = bind(fd, (const struct sockaddr *)address, sizeof(*address));
	int why = errno;

	if (socket_file_end(mask, true, path, err) != 0 && rc == 0)
		return -1;
	if (rc != 0)
		return err_set(err, "%s: %s", path, strerror(why));
	return type == SOCK_DGRAM || listen(fd, BACKLOG) == 0
		   ? 0
		   : err_set(err, "%s: %s", path, strerror(errno));
}

int
local_listen_bind(int *made, const char *path, int type, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	strcpy(address.sun_path, path);
	unlink(path);
	if (fd < 0 || listen_at(fd, &address, type, err) != 0) {
		if (fd < 0)
			err_set(err, "%s: %s", path, strerror(errno));
		else
			close(fd);
		return -1;
	}
	*made = fd;
	return 0;
}

int
local_listen(int *made, struct lockfile *lockfile, const char *path, int type,
    struct err *err)
{
	struct sockaddr_un address;
	char lock_path[INSTANCE_PATH_BYTES];
	long holder;

	if (strlen(path) >= sizeof(address.sun_path))
		return err_set(err, "%s: a socket's path has at most %zu bytes",
		    path, sizeof(address.sun_path) - 1);
	snprintf(lock_path, sizeof(lock_path), "%s.lock", path);
	if (trusted_dir_own_parent(path, err) != 0 ||
	    lockfile_take(lockfile, lock_path, &holder, err) != 0)
		return -1;
	if (local_listen_bind(made, path, type, err) == 0)
		return 0;
	lockfile_release(lockfile);
	return -1;
}
