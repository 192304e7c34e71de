/*
 * calls - of a program on files, see memory.h.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "proto/base/err.h"
#include "proto/base/memory.h"
#include "tests/fuzz/memory/memory.h"

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_openat(int dir, const char *name, int flags, ...);
int __real_close(int fd);
int __wrap_close(int fd);
int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstatat(int dir, const char *name, struct stat *st, int flags);
int __wrap_unlinkat(int dir, const char *name, int flags);
int __wrap_renameat2(
    int from_dir, const char *from, int to_dir, const char *to, unsigned flags);
int __wrap_renameat(int from_dir, const char *from, int to_dir, const char *to);
int __wrap_mkdirat(int dir, const char *name, mode_t mode);
DIR *__wrap_fdopendir(int fd);
struct dirent *__real_readdir(DIR *d);
struct dirent *__wrap_readdir(DIR *d);
int __real_closedir(DIR *d);
int __wrap_closedir(DIR *d);
ssize_t __wrap_pread(int fd, void *to, size_t bytes, off_t from);
ssize_t __wrap_pwrite(int fd, const void *from, size_t bytes, off_t to);
int __wrap_posix_fallocate(int fd, off_t from, off_t bytes);
int __wrap_fsync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_flock(int fd, int what);
int __wrap_fcntl(int fd, int what, ...);
int __wrap_fstatvfs(int fd, struct statvfs *fs);
int __wrap_instance_make_dir(const char *path, struct err *err);

int
__wrap_instance_make_dir(const char *path, struct err *err)
{
	(void)err;
	if (strcmp(path, MEMORY_DIR) != 0)
		abort();
	return 0; /* it is there */
}

int
__wrap_open(const char *path, int flags, ...)
{
	if (strcmp(path, MEMORY_DIR) == 0)
		return memory_open(0, flags);
	return (flags & O_CREAT) != 0 ? memory_says(EPERM)
				      : __real_open(path, flags);
}

int
__wrap_openat(int dir, const char *name, int flags, ...)
{
	int parent = memory_folder(dir), node;
	bool may_write = (flags & O_ACCMODE) != O_RDONLY;

	if (parent < 0)
		return -1;
	node = strcmp(name, ".") == 0 ? parent : memory_find(parent, name);
	if (node < 0 && (flags & O_CREAT) != 0)
		node = memory_make(parent, name, false);
	else if (node >= 0 && (flags & O_EXCL) != 0)
		return memory_says(EEXIST);
	if (node < 0)
		return -1;
	if (memory.nodes[node].is_dir && may_write)
		return memory_says(EISDIR);
	if (!memory.nodes[node].is_dir && (flags & O_DIRECTORY) != 0)
		return memory_says(ENOTDIR);
	return memory_open(node, flags);
}

int
__wrap_close(int fd)
{
	if (!memory_is(fd))
		return __real_close(fd);
	if (memory_node(fd) == NULL)
		return -1;
	memory_close(fd);
	return 0;
}

static int
memory_stat(const struct memory_node *n, struct stat *st)
{
	*st = (struct stat){ .st_mode =
				 n->is_dir ? S_IFDIR | 0700U : S_IFREG | 0600U,
		.st_uid = memory.owner,
		.st_nlink = 1,
		.st_size = (off_t)n->size };
	return 0;
}

int
__wrap_fstat(int fd, struct stat *st)
{
	const struct memory_node *n;

	if (!memory_is(fd))
		return __real_fstat(fd, st);
	return (n = memory_node(fd)) == NULL ? -1 : memory_stat(n, st);
}

int
__wrap_fstatat(int dir, const char *name, struct stat *st, int flags)
{
	int parent = memory_folder(dir);
	int node = parent < 0 ? -1 : memory_find(parent, name);

	(void)flags;
	return node < 0 ? -1 : memory_stat(&memory.nodes[node], st);
}

int
__wrap_unlinkat(int dir, const char *name, int flags)
{
	int parent = memory_folder(dir);
	int node = parent < 0 ? -1 : memory_find(parent, name);

	if (node < 0)
		return -1;
	if (flags != 0)
		abort(); /* nobody removes a folder */
	if (memory.nodes[node].is_dir)
		return memory_says(EISDIR);
	memory.nodes[node].parent = -1;
	return 0;
}

int
__wrap_renameat2(
    int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	int source = memory_folder(from_dir), target = memory_folder(to_dir);
	int node = source < 0 ? -1 : memory_find(source, from);
	int there = target < 0 ? -1 : memory_find(target, to);
	struct memory_node *n;

	if (target < 0 || node < 0 || (there < 0 && flags == RENAME_EXCHANGE))
		return -1;
	n = &memory.nodes[node];
	if (there >= 0 && memory.nodes[there].is_dir && !n->is_dir)
		return memory_says(EISDIR);
	if (there >= 0) {
		memory.nodes[there].parent =
		    flags == RENAME_EXCHANGE ? source : -1;
		strcpy(memory.nodes[there].name, n->name);
	}
	n->parent = target;
	snprintf(n->name, sizeof(n->name), "%s", to);
	return 0;
}

int
__wrap_renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	return __wrap_renameat2(from_dir, from, to_dir, to, 0);
}

int
__wrap_mkdirat(int dir, const char *name, mode_t mode)
{
	int parent = memory_folder(dir);

	(void)mode;
	if (parent < 0)
		return -1;
	if (memory_find(parent, name) >= 0)
		return memory_says(EEXIST);
	return memory_make(parent, name, true) < 0 ? -1 : 0;
}

DIR *
__wrap_fdopendir(int fd)
{
	if (memory_folder(fd) < 0)
		return NULL;
	if (memory.walk.fd >= 0)
		abort();
	memory.walk.fd = fd;
	memory.walk.at = 1;
	return (DIR *)&memory.walk;
}

struct dirent *
__wrap_readdir(DIR *d)
{
	struct memory_walk *w = (struct memory_walk *)d;
	int parent;

	if (w != &memory.walk)
		return __real_readdir(d);
	parent = memory_folder(w->fd);
	for (; w->at < memory.nodes_used; w->at++)
		if (memory.nodes[w->at].parent == parent) {
			strcpy(w->entry.d_name, memory.nodes[w->at++].name);
			return &w->entry;
		}
	return NULL;
}

int
__wrap_closedir(DIR *d)
{
	struct memory_walk *w = (struct memory_walk *)d;
	int fd = memory.walk.fd;

	if (w != &memory.walk)
		return __real_closedir(d);
	w->fd = -1;
	return __wrap_close(fd);
}

ssize_t
__wrap_pread(int fd, void *to, size_t bytes, off_t from)
{
	const struct memory_node *n = memory_node(fd);

	if (n == NULL)
		return -1;
	if ((size_t)from >= n->size)
		return 0;
	if (bytes > n->size - (size_t)from)
		bytes = n->size - (size_t)from;
	memcpy(to, n->at + from, bytes);
	return (ssize_t)bytes;
}

ssize_t
__wrap_pwrite(int fd, const void *from, size_t bytes, off_t to)
{
	struct memory_node *n = memory_node(fd);
	int error;

	if (n == NULL)
		return -1;
	if ((memory.fds[fd - MEMORY_FD].flags & O_ACCMODE) == O_RDONLY)
		return memory_says(EBADF);
	if ((error = memory_node_grow(n, (size_t)to + bytes)) != 0)
		return memory_says(error);
	memcpy(n->at + to, from, bytes);
	return (ssize_t)bytes;
}

int
__wrap_posix_fallocate(int fd, off_t from, off_t bytes)
{
	struct memory_node *n = memory_node(fd);

	return n == NULL ? EBADF : memory_node_grow(n, (size_t)(from + bytes));
}

int
__wrap_fsync(int fd)
{
	return memory_node(fd) == NULL ? -1 : 0;
}

int
__wrap_fdatasync(int fd)
{
	return memory_node(fd) == NULL ? -1 : 0;
}

/* Nobody else is there. */
int
__wrap_flock(int fd, int what)
{
	(void)what;
	return memory_node(fd) == NULL ? -1 : 0;
}

int
__wrap_fcntl(int fd, int what, ...)
{
	const struct memory_node *n = memory_node(fd);

	if (what != F_DUPFD_CLOEXEC)
		abort();
	return n == NULL ? -1
			 : memory_open((int)(n - memory.nodes),
			       memory.fds[fd - MEMORY_FD].flags);
}

int
__wrap_fstatvfs(int fd, struct statvfs *fs)
{
	*fs = (struct statvfs){ .f_bavail = 1 << 20, .f_frsize = 4096 };
	return memory_node(fd) == NULL ? -1 : 0;
}
