/*
 * trusted_dir - directories in which nobody but their owner can put files.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/owner/trusted_dir.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static void
directory_of(char to[static PATH_MAX], const char *file)
{
	const char *slash = strrchr(file, '/');

	if (slash == NULL)
		strcpy(to, ".");
	else
		snprintf(to, PATH_MAX, "%.*s",
		    slash == file ? 1 : (int)(slash - file), file);
}

static int
look(const char *dir, struct stat *st, struct err *err)
{
	if (stat(dir, st) != 0)
		return err_set(err, "%s: %s", dir, strerror(errno));
	if (!S_ISDIR(st->st_mode))
		return err_set(err, "%s: is not a directory", dir);
	if ((st->st_mode & 022) == 0)
		return 0;
	return err_set(err,
	    "%.900s can be written by others (mode %04o), who could put their "
	    "files in the place of ours: run chmod go-w, or use another "
	    "directory",
	    dir, (unsigned)st->st_mode & 07777);
}

int
trusted_dir_own(const char *dir, struct err *err)
{
	struct stat st;

	if (look(dir, &st, err) != 0)
		return -1;
	if (st.st_uid == geteuid())
		return 0;
	return err_set(err,
	    "%.900s belongs to another user (uid %u): run this as that user, "
	    "or use another directory",
	    dir, (unsigned)st.st_uid);
}

int
trusted_dir_own_parent(const char *file, struct err *err)
{
	char dir[PATH_MAX];

	directory_of(dir, file);
	return trusted_dir_own(dir, err);
}

/* The directory of a socket, and that of the socket to which a link leads. */
static int
look_both(const char *socket, struct stat st[static 2], struct err *err)
{
	char dir[PATH_MAX], *real;

	directory_of(dir, socket);
	if (look(dir, &st[0], err) != 0)
		return -1;
	st[1] = st[0];
	real = realpath(socket, NULL);
	if (real == NULL)
		return 0;
	directory_of(dir, real);
	free(real);
	return look(dir, &st[1], err);
}

int
trusted_dir_socket(const char *socket, struct err *err)
{
	char dir[PATH_MAX];
	struct stat st[2];

	directory_of(dir, socket);
	/* Where we may not even look, connecting says why it fails. */
	return stat(dir, &st[0]) != 0 ? 0 : look_both(socket, st, err);
}

int
trusted_dir_peer(const char *socket, int fd, struct err *err)
{
	struct stat st[2];
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0)
		return err_set(err, "%s: %s", socket, strerror(errno));
	if (peer.uid == 0 || peer.uid == geteuid())
		return 0;
	if (look_both(socket, st, err) != 0)
		return -1;
	if (peer.uid == st[0].st_uid || peer.uid == st[1].st_uid)
		return 0;
	return err_set(err,
	    "%s: user %u listens there, who is neither the owner of the "
	    "directory nor root: nothing is sent to him",
	    socket, (unsigned)peer.uid);
}
