/*
 * memory - one folder, and folders in it, in this process: what a spool asks of
 * the kernel's files, with the answers that tmpfs would give, without the
 * kernel (a tenth of the time).  A target's line in the Makefile wraps the
 * calls; what is not of this folder goes on to the C library.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FUZZ_MEMORY_MEMORY_H
#define TESTS_FUZZ_MEMORY_MEMORY_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/memory.h"

#define MEMORY_DIR "/memory"

enum {
	MEMORY_NODES = 128,
	MEMORY_FDS = 32,
	MEMORY_FD = 1 << 20,   /* the first descriptor of ours */
	MEMORY_BYTES = 1 << 20 /* of a file, at most */
};

/* An empty folder; whatever was open is closed. */
void memory_reset(void);
/* A file of these bytes in it. */
void memory_put(const char *name, const void *at, size_t size);
/* Descriptors that are open. */
int memory_opens(void);

/* ---- for the calls ---- */

struct memory_node {
	char name[64];
	int parent; /* -1: without a name */
	bool is_dir;
	uint32_t opens;
	unsigned char *at; /* stays for the next file */
	size_t size, room;
};

/* nodes[0] is MEMORY_DIR. */
struct memory {
	struct memory_node nodes[MEMORY_NODES];
	int nodes_used;
	struct {
		int node; /* -1: closed */
		int flags;
	} fds[MEMORY_FDS];
	struct memory_walk {
		int fd, at;
		struct dirent entry;
	} walk; /* one folder at a time */
	int fds_open;
	uid_t owner; /* of all */
};

extern struct memory memory;

/* -1, with errno. */
int memory_says(int error);
bool memory_is(int fd);
int memory_find(int parent, const char *name);
int memory_make(int parent, const char *name, bool is_dir);
/* At least so long, with zeros where nothing was; 0 or an error. */
int memory_node_grow(struct memory_node *n, size_t size);
/* Its node; NULL: EBADF.  A descriptor of others has no business here. */
struct memory_node *memory_node(int fd);
/* Of a folder that is open: its number. */
int memory_folder(int fd);
int memory_open(int node, int flags);
void memory_close(int fd);

#endif
