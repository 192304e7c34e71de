/*
 * upload_watch - wait for new files in a directory.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/directory/watch.h"

#include <errno.h>
#include <signal.h>
#include <stdalign.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "proto/os/clock.h"

static void
on_signal(void *arg, int signo)
{
	(void)signo;
	loop_quit(arg, 1);
}

static void
on_timer(void *arg, struct loop_timer *timer)
{
	(void)timer;
	loop_quit(arg, 0);
}

static void
on_change(void *arg, int fd, uint32_t events)
{
	struct upload_watch *watch = arg;
	alignas(struct inotify_event) char bytes[4096];
	ssize_t n;

	(void)events;
	while ((n = read(fd, bytes, sizeof(bytes))) > 0) {
		ssize_t at = 0;

		while (at < n) {
			const struct inotify_event *event =
			    (const void *)(bytes + at);

			if (event->mask &
			    (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED))
				watch->gone = true;
			at += (ssize_t)(sizeof(*event) + event->len);
		}
	}
	loop_quit(watch->loop, watch->gone);
}

int
upload_watch_open(struct upload_watch *watch, const char *path, struct err *err)
{
	*watch = (struct upload_watch){ .fd = -1 };
	if (loop_new(&watch->loop, err) != 0 ||
	    loop_add_signal(watch->loop, SIGINT, on_signal, watch->loop, err) !=
		0 ||
	    loop_add_signal(
		watch->loop, SIGTERM, on_signal, watch->loop, err) != 0)
		return -1;
	watch->timer.on_timer = on_timer;
	watch->timer.arg = watch->loop;
	watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (watch->fd < 0 || inotify_add_watch(watch->fd, path,
				 IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE_SELF |
				     IN_MOVE_SELF | IN_ONLYDIR) < 0)
		return err_set(err, "%s: cannot watch the directory: %s", path,
		    strerror(errno));
	return loop_add_fd(
	    watch->loop, watch->fd, EPOLLIN, on_change, watch, err);
}

void
upload_watch_close(struct upload_watch *watch)
{
	loop_free(&watch->loop);
	if (watch->fd >= 0)
		close(watch->fd);
	watch->fd = -1;
}

bool
upload_watch_wait(struct upload_watch *watch, int64_t limit_ns)
{
	int status;

	loop_set_timer(
	    watch->loop, &watch->timer, clock_monotonic_ns() + limit_ns, 0);
	status = loop_run(watch->loop);
	loop_stop_timer(watch->loop, &watch->timer);
	return status == 0;
}
