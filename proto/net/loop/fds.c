/*
 * fds - the file descriptors of a loop.
 * SPDX-License-Identifier: MIT
 */
#include "proto/net/loop/fds.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/os/heartbeat.h"

enum { EVENTS_AT_ONCE = 64, ROOM_MIN = 64 };

int
fds_init(struct fds *fds, struct err *err)
{
	*fds = (struct fds){ .epoll = epoll_create1(EPOLL_CLOEXEC) };
	return fds->epoll < 0 ? err_set(err, "epoll: %s", strerror(errno)) : 0;
}

void
fds_clear(struct fds *fds)
{
	if (fds->epoll >= 0)
		close(fds->epoll);
	free(fds->entry);
	fds->entry = NULL;
}

static void
make_room(struct fds *fds, int fd)
{
	uint32_t room = fds->room ? fds->room : ROOM_MIN;
	struct fds_entry *entry;

	while (room <= (uint32_t)fd)
		room *= 2;
	if (room == fds->room)
		return;
	entry = memory_resize(fds->entry, room * sizeof(*entry));
	memset(entry + fds->room, 0, (room - fds->room) * sizeof(*entry));
	fds->entry = entry;
	fds->room = room;
}

static struct fds_entry *
find(struct fds *fds, int fd)
{
	if (fd < 0 || (uint32_t)fd >= fds->room || fds->entry[fd].on_fd == NULL)
		return NULL;
	return &fds->entry[fd];
}

static int
control(struct fds *fds, int what, int fd, uint32_t events)
{
	uint64_t generation = fds->entry[fd].generation;
	struct epoll_event event = { .events = events };

	event.data.u64 = generation << 32 | (uint32_t)fd;
	return epoll_ctl(fds->epoll, what, fd, &event);
}

int
fds_add(struct fds *fds, int fd, uint32_t events,
    void (*on_fd)(void *arg, int fd, uint32_t events), void *arg,
    struct err *err)
{
	struct fds_entry *entry;

	if (fds->count == FDS_MAX)
		return err_set(err, "more than %d file descriptors", FDS_MAX);
	make_room(fds, fd);
	entry = &fds->entry[fd];
	assert(entry->on_fd == NULL);
	entry->generation = ++fds->generation;
	if (control(fds, EPOLL_CTL_ADD, fd, events) != 0)
		return err_set(err, "epoll: %s", strerror(errno));
	entry->on_fd = on_fd;
	entry->arg = arg;
	fds->count++;
	return 0;
}

int
fds_change(struct fds *fds, int fd, uint32_t events)
{
	if (find(fds, fd) == NULL)
		return -1;
	return control(fds, EPOLL_CTL_MOD, fd, events);
}

void
fds_remove(struct fds *fds, int fd)
{
	struct fds_entry *entry = find(fds, fd);

	if (entry == NULL)
		return;
	epoll_ctl(fds->epoll, EPOLL_CTL_DEL, fd, NULL);
	entry->on_fd = NULL;
	fds->count--;
}

void
fds_wait(struct fds *fds, int timeout_ms)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int i, count;

	heartbeat_rest();
	/* epoll_wait is libzmq's (proto/net/guard/guard.h). */
	count =
	    epoll_pwait(fds->epoll, events, EVENTS_AT_ONCE, timeout_ms, NULL);
	heartbeat_beat();
	assert(count >= 0 || errno == EINTR);
	for (i = 0; i < count; i++) {
		int fd = (int)(events[i].data.u64 & UINT32_MAX);
		struct fds_entry *entry = find(fds, fd);

		if (entry != NULL &&
		    entry->generation == events[i].data.u64 >> 32)
			entry->on_fd(entry->arg, fd, events[i].events);
	}
}
