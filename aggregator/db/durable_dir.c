/*
 * durable_dir - directories of the store that must survive a crash.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/db/durable_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "proto/os/file_io.h"

/* From the kernel's magic.h and the sources of the file systems. */
static const struct {
	uint32_t magic;
	const char *name;
} network[] = {
	{ 0x00006969, "NFS" },
	{ 0x0000517B, "SMB" },
	{ 0xFF534D42, "CIFS" },
	{ 0xFE534D42, "SMB2" },
	{ 0x65735546, "FUSE" },
	{ 0x0BD00BD0, "Lustre" },
	{ 0x47504653, "GPFS" },
	{ 0x00C36400, "Ceph" },
	{ 0x01021997, "9P" },
	{ 0x5346414F, "AFS" },
	{ 0x6B414653, "AFS" },
	{ 0x73757245, "Coda" },
	{ 0x7461636F, "OCFS2" },
	{ 0x01161970, "GFS2" },
	{ 0xAAD7AAEA, "PanFS" },
	{ 0x19830326, "BeeGFS" },
	{ 0x20030528, "OrangeFS" },
	{ 0x786F4256, "VirtualBox shared folder" },
	{ 0xBACBACBC, "VMware shared folder" },
	{ 0x0000564C, "NCP" },
};

int
durable_dir_path(char to[static DURABLE_DIR_PATH_BYTES], const char *dir,
    const char *name, struct err *err)
{
	int n = snprintf(to, DURABLE_DIR_PATH_BYTES, "%s/%s", dir, name);

	if (n < 0 || n >= DURABLE_DIR_PATH_BYTES)
		return err_set(err, "%s/%s: path is too long", dir, name);
	return 0;
}

int
durable_dir_with_suffix(char to[static DURABLE_DIR_PATH_BYTES],
    const char *path, const char *suffix, struct err *err)
{
	size_t length = strlen(path);
	int n;

	while (length > 1 && path[length - 1] == '/')
		length--;
	n = snprintf(
	    to, DURABLE_DIR_PATH_BYTES, "%.*s%s", (int)length, path, suffix);
	return n < DURABLE_DIR_PATH_BYTES
		   ? 0
		   : err_set(err, "%s: path is too long", path);
}

int
durable_dir_sync(const char *path, struct err *err)
{
	if (file_io_sync(path) != 0)
		return err_set(err, "sync %s: %s", path, strerror(errno));
	return 0;
}

static int
parent(
    char to[static DURABLE_DIR_PATH_BYTES], const char *path, struct err *err)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	while (length > 0 && path[length - 1] != '/')
		length--;
	while (length > 1 && path[length - 1] == '/')
		length--;
	if (length >= DURABLE_DIR_PATH_BYTES)
		return err_set(err, "%s: path is too long", path);
	if (length == 0) {
		strcpy(to, ".");
		return 0;
	}
	memcpy(to, path, length);
	to[length] = '\0';
	return 0;
}

/* Sync the directory that contains `path`. */
static int
sync_parent(const char *path, struct err *err)
{
	if (file_io_sync_parent(path) != 0)
		return err_set(err, "cannot sync the directory of %s: %s", path,
		    strerror(errno));
	return 0;
}

int
durable_dir_refuse_network(const char *path, struct err *err)
{
	char dir[DURABLE_DIR_PATH_BYTES];
	struct statfs fs;

	if (statfs(path, &fs) != 0) {
		if (errno != ENOENT)
			return err_set(err, "%s: %s", path, strerror(errno));
		if (parent(dir, path, err) != 0)
			return -1;
		if (statfs(dir, &fs) != 0)
			return err_set(err, "%s: %s", dir, strerror(errno));
	}
	for (size_t i = 0; i < sizeof(network) / sizeof(network[0]); i++)
		if ((uint32_t)fs.f_type == network[i].magic)
			return err_set(err,
			    "%s is on %s: a store needs a local file system "
			    "(--force-network-fs allows this one)",
			    path, network[i].name);
	return 0;
}

bool
durable_dir_is_empty(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	bool empty = true;

	if (dir == NULL)
		return errno == ENOENT;
	while (empty && (entry = readdir(dir)) != NULL)
		empty = strcmp(entry->d_name, ".") == 0 ||
			strcmp(entry->d_name, "..") == 0;
	closedir(dir);
	return empty;
}

int
durable_dir_remove(const char *path, struct err *err)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int saved;

	if (dir == NULL)
		return errno == ENOENT
			   ? 0
			   : err_set(err, "%s: %s", path, strerror(errno));
	while ((entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(dirfd(dir), entry->d_name, 0) != 0) {
			saved = errno;
			err_set(err, "%s/%s: %s", path, entry->d_name,
			    strerror(saved));
			closedir(dir);
			return -1;
		}
	}
	closedir(dir);
	if (rmdir(path) != 0)
		return err_set(err, "%s: %s", path, strerror(errno));
	return 0;
}

int
durable_dir_rename(const char *from, const char *to, struct err *err)
{
	if (rename(from, to) != 0)
		return err_set(
		    err, "rename %s to %s: %s", from, to, strerror(errno));
	return sync_parent(to, err);
}

int
durable_dir_exchange(const char *a, const char *b, struct err *err)
{
	if (renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) != 0)
		return err_set(
		    err, "exchange %s and %s: %s", a, b, strerror(errno));
	return sync_parent(a, err);
}
