/*
 * fds - the file descriptors of a loop; only loop.c uses it.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_NET_LOOP_FDS_H
#define PROTO_NET_LOOP_FDS_H

#include <stdint.h>

#include "proto/base/err.h"

enum { FDS_MAX = 4096 };

/* Indexed by descriptor.  A descriptor may be removed, and its number used
 * again, before its event is processed: the event then has another
 * generation. */
struct fds_entry {
	void (*on_fd)(void *arg, int fd, uint32_t events); /* NULL: free */
	void *arg;
	uint32_t generation;
};

struct fds {
	int epoll;
	struct fds_entry *entry;
	uint32_t room, count, generation;
};

int fds_init(struct fds *fds, struct err *err);
void fds_clear(struct fds *fds);

/* As loop_add_fd, loop_change_fd and loop_remove_fd. */
int fds_add(struct fds *fds, int fd, uint32_t events,
    void (*on_fd)(void *arg, int fd, uint32_t events), void *arg,
    struct err *err);
int fds_change(struct fds *fds, int fd, uint32_t events);
void fds_remove(struct fds *fds, int fd);

/* Sleep until a descriptor is ready, at most `timeout_ms` (-1: for ever), and
 * call the callbacks of those that are. */
void fds_wait(struct fds *fds, int timeout_ms);

#endif
