/*
 * nodes - see memory.h.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "tests/fuzz/memory/memory.h"

struct memory memory;

void
memory_reset(void)
{
	for (int i = 0; i < memory.nodes_used; i++) {
		memory.nodes[i].parent = -1;
		memory.nodes[i].opens = 0;
		memory.nodes[i].size = 0;
	}
	for (int i = 0; i < MEMORY_FDS; i++)
		memory.fds[i].node = -1;
	memory.fds_open = 0;
	memory.walk.fd = -1;
	memory.nodes[0].is_dir = true;
	memory.nodes[0].opens = 1;
	memory.nodes_used = 1;
	if (memory.owner == 0)
		memory.owner = geteuid();
}

int
memory_says(int error)
{
	errno = error;
	return -1;
}

/* ---- nodes ---- */

int
memory_find(int parent, const char *name)
{
	for (int i = 1; i < memory.nodes_used; i++)
		if (memory.nodes[i].parent == parent &&
		    strcmp(memory.nodes[i].name, name) == 0)
			return i;
	return memory_says(ENOENT);
}

int
memory_make(int parent, const char *name, bool is_dir)
{
	struct memory_node *n;
	int i = 1;

	while (i < memory.nodes_used &&
	       (memory.nodes[i].parent >= 0 || memory.nodes[i].opens > 0))
		i++;
	if (i == MEMORY_NODES)
		return memory_says(ENOSPC);
	n = &memory.nodes[i];
	if (strlen(name) >= sizeof(n->name))
		return memory_says(ENAMETOOLONG);
	if (i == memory.nodes_used)
		memory.nodes_used++;
	strcpy(n->name, name);
	n->parent = parent;
	n->is_dir = is_dir;
	n->size = 0;
	return i;
}

int
memory_node_grow(struct memory_node *n, size_t size)
{
	size_t room = n->room > 0 ? n->room : 4096;
	unsigned char *at;

	if (size > MEMORY_BYTES)
		return ENOSPC;
	while (room < size)
		room *= 2;
	if (room > n->room) {
		if ((at = realloc(n->at, room)) == NULL)
			return ENOSPC;
		n->at = at;
		n->room = room;
	}
	if (size > n->size) {
		memset(n->at + n->size, 0, size - n->size);
		n->size = size;
	}
	return 0;
}

void
memory_put(const char *name, const void *at, size_t size)
{
	int i = memory_make(0, name, false);

	if (i < 0 || memory_node_grow(&memory.nodes[i], size) != 0)
		abort();
	if (size > 0)
		memcpy(memory.nodes[i].at, at, size);
}

/* ---- descriptors ---- */

bool
memory_is(int fd)
{
	return fd >= MEMORY_FD;
}

struct memory_node *
memory_node(int fd)
{
	int i = fd - MEMORY_FD;

	if (i < 0)
		abort();
	if (i < MEMORY_FDS && memory.fds[i].node >= 0)
		return &memory.nodes[memory.fds[i].node];
	errno = EBADF;
	return NULL;
}

int
memory_folder(int fd)
{
	const struct memory_node *n = memory_node(fd);

	if (n == NULL)
		return -1;
	return n->is_dir ? (int)(n - memory.nodes) : memory_says(ENOTDIR);
}

int
memory_open(int node, int flags)
{
	int i = 0;

	while (i < MEMORY_FDS && memory.fds[i].node >= 0)
		i++;
	if (i == MEMORY_FDS)
		return memory_says(EMFILE);
	memory.fds[i].node = node;
	memory.fds[i].flags = flags;
	memory.nodes[node].opens++;
	memory.fds_open++;
	return MEMORY_FD + i;
}

void
memory_close(int fd)
{
	struct memory_node *n = memory_node(fd);

	if (n == NULL)
		return;
	n->opens--;
	memory.fds[fd - MEMORY_FD].node = -1;
	memory.fds_open--;
}

int
memory_opens(void)
{
	return memory.fds_open;
}
