/*
 * epoll - libzmq hears of a broken connection only by reading it or writing to
 * it.
 * SPDX-License-Identifier: MIT
 */
#include "proto/net/guard/guard.h"

#include "proto/net/guard/handshake.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

/* By descriptor: one more than the epoll instance that it was taken out of,
 * because it waits for nothing there; 0: none.  A descriptor is in one instance
 * at most, and one thread changes it. */
static atomic_int away[GUARD_FILES_MAX];

static int
control(int epoll, int what, int fd, struct epoll_event *event)
{
	return (int)syscall(SYS_epoll_ctl, epoll, what, fd, event);
}

static int
take_out(int epoll, int fd)
{
	int rc = control(epoll, EPOLL_CTL_DEL, fd, NULL);

	if (rc == 0)
		away[fd] = epoll + 1;
	return rc;
}

/* In place of libc's. */
int
epoll_ctl(int epoll, int what, int fd, struct epoll_event *event)
{
	bool is_away;

	if (fd < 0 || fd >= GUARD_FILES_MAX)
		return control(epoll, what, fd, event);
	if (what == EPOLL_CTL_DEL)
		handshake_forget(fd);
	is_away = away[fd] == epoll + 1;
	if (what == EPOLL_CTL_MOD && event->events == 0)
		return is_away ? 0 : take_out(epoll, fd);
	if (!is_away)
		return control(epoll, what, fd, event);
	away[fd] = 0;
	return what == EPOLL_CTL_DEL ? 0
				     : control(epoll, EPOLL_CTL_ADD, fd, event);
}

/* In place of libc's.  Who waits to read hears of a broken socket as of input,
 * who waits to write as of room.  A Unix socket whose peer is just closing may
 * for a moment be neither: there is no event then, and the next call returns at
 * once. */
int
epoll_wait(int epoll, struct epoll_event *events, int events_max, int timeout)
{
	int count = epoll_pwait(epoll, events, events_max, timeout, NULL);

	for (int i = 0; i < count; i++)
		events[i].events &= ~(uint32_t)(EPOLLERR | EPOLLHUP);
	return count;
}

bool
guard_has_epoll(void)
{
	return dlsym(RTLD_DEFAULT, "epoll_ctl") == (void *)epoll_ctl &&
	       dlsym(RTLD_DEFAULT, "epoll_wait") == (void *)epoll_wait;
}
