/*
 * loop - waits for sockets, file descriptors, timers and signals in one
 * thread.
 *
 * One epoll instance waits for everything.  The descriptor of a libzmq socket
 * signals only that something may have happened inside, and does not signal
 * messages that are left unread.  So the loop checks every ZeroMQ socket once
 * before it sleeps; after that check, new events make the descriptor readable.
 * SPDX-License-Identifier: MIT
 */
#include "proto/net/loop/loop.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "proto/base/err.h"
#include "proto/base/memory.h"
#include "proto/net/connection_limit.h"
#include "proto/net/loop/loop_timer.h"
#include "proto/os/clock.h"
#include "proto/os/heartbeat.h"
#include "proto/os/log.h"

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

/* Not sorted: there are few, and scanning them all is cheap. */
struct timers {
	struct loop_timer *set[LOOP_TIMERS_MAX];
	uint32_t count;
};

enum { EVENTS_AT_ONCE = 64, ROOM_MIN = 64 };

static int
fds_init(struct fds *fds, struct err *err)
{
	*fds = (struct fds){ .epoll = epoll_create1(EPOLL_CLOEXEC) };
	return fds->epoll < 0 ? err_set(err, "epoll: %s", strerror(errno)) : 0;
}

static void
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

/* As loop_add_fd, loop_change_fd and loop_remove_fd. */
static int
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

static int
fds_change(struct fds *fds, int fd, uint32_t events)
{
	if (find(fds, fd) == NULL)
		return -1;
	return control(fds, EPOLL_CTL_MOD, fd, events);
}

static void
fds_remove(struct fds *fds, int fd)
{
	struct fds_entry *entry = find(fds, fd);

	if (entry == NULL)
		return;
	epoll_ctl(fds->epoll, EPOLL_CTL_DEL, fd, NULL);
	entry->on_fd = NULL;
	fds->count--;
}

/* Sleep until a descriptor is ready, at most `timeout_ms` (-1: for ever), and
 * call the callbacks of those that are. */
static void
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

enum { NS_PER_MS = 1000000 };

/* As loop_set_timer and loop_stop_timer. */
static void
timers_set(struct timers *timers, struct loop_timer *timer, int64_t at_ns,
    int64_t period_ns)
{
	timer->at_ns = at_ns;
	timer->period_ns = period_ns;
	if (timer->slot != 0)
		return;
	assert(timers->count < LOOP_TIMERS_MAX);
	timers->set[timers->count++] = timer;
	timer->slot = timers->count;
}

static void
timers_stop(struct timers *timers, struct loop_timer *timer)
{
	struct loop_timer *last;

	timer->at_ns = 0;
	if (timer->slot == 0)
		return;
	assert(timers->set[timer->slot - 1] == timer);
	last = timers->set[--timers->count];
	timers->set[timer->slot - 1] = last;
	last->slot = timer->slot;
	timer->slot = 0;
}

static struct loop_timer *
first(const struct timers *timers)
{
	struct loop_timer *found = NULL;
	uint32_t i;

	for (i = 0; i < timers->count; i++)
		if (found == NULL || timers->set[i]->at_ns < found->at_ns)
			found = timers->set[i];
	return found;
}

/* Call the timers that are due. */
static void
timers_run(struct timers *timers)
{
	struct loop_timer *timer;
	int64_t now;
	int i;

	if (timers->count == 0)
		return;
	now = clock_monotonic_ns();
	/* A timer that sets itself to the past must not starve the loop. */
	for (i = 0; i < LOOP_TIMERS_MAX; i++) {
		timer = first(timers);
		if (timer == NULL || timer->at_ns > now)
			return;
		if (timer->period_ns > 0)
			timer->at_ns +=
			    timer->period_ns *
			    ((now - timer->at_ns) / timer->period_ns + 1);
		else
			timers_stop(timers, timer);
		timer->on_timer(timer->arg, timer);
	}
}

/* How long epoll_wait may sleep; -1: for ever.  Rounded up: a timer is at most
 * 1 ms late and never early. */
static int
timers_sleep_ms(const struct timers *timers)
{
	const struct loop_timer *timer = first(timers);
	int64_t left, ms;

	if (timer == NULL)
		return -1;
	left = timer->at_ns - clock_monotonic_ns();
	if (left <= 0)
		return 0;
	ms = (left - 1) / NS_PER_MS + 1;
	return ms > INT_MAX ? INT_MAX : (int)ms;
}

enum { SIGNALS = 65 };

struct loop_zsock {
	struct loop *loop;
	struct zsock *zsock; /* NULL: free */
	void (*on_zsock)(void *arg, struct zsock *zsock);
	void *arg;
	bool ready;
};

struct loop_signal {
	void (*on_signal)(void *arg, int signo);
	void *arg;
};

struct loop {
	struct fds fds;
	int wake, signals;
	struct loop_zsock zsocks[LOOP_ZSOCKS_MAX];
	struct timers timers;
	struct loop_timer checks; /* set while zsock_needs_checks */
	sigset_t signal_set;
	struct loop_signal signal[SIGNALS];
	void (*on_idle)(void *arg);
	void *idle_arg;
	void (*on_wake)(void *arg);
	void *wake_arg;
	atomic_flag failing; /* a thread writes `failure`, or has written it */
	atomic_bool has_failure; /* `failure` is complete */
	struct err failure;      /* of the thread that failed */
	bool quit;
	int status;
};

/* ---- file descriptors ---- */

int
loop_add_fd(struct loop *loop, int fd, uint32_t events,
    void (*on_fd)(void *arg, int fd, uint32_t events), void *arg,
    struct err *err)
{
	return fds_add(&loop->fds, fd, events, on_fd, arg, err);
}

int
loop_change_fd(struct loop *loop, int fd, uint32_t events)
{
	return fds_change(&loop->fds, fd, events);
}

void
loop_remove_fd(struct loop *loop, int fd)
{
	fds_remove(&loop->fds, fd);
}

/* ---- ZeroMQ sockets ---- */

/* Only wakes the loop, which checks every socket anyway. */
static void
on_zsock_fd(void *arg, int fd, uint32_t events)
{
	(void)arg;
	(void)fd;
	(void)events;
}

static void
check_connections(void *arg, struct loop_timer *timer)
{
	struct loop *loop = arg;
	bool any = false;
	uint32_t i;

	for (i = 0; i < LOOP_ZSOCKS_MAX; i++) {
		struct zsock *zsock = loop->zsocks[i].zsock;

		if (zsock == NULL || !zsock_needs_checks(zsock))
			continue;
		zsock_check_connections(zsock);
		any = true;
	}
	if (!any)
		loop_stop_timer(loop, timer);
}

static void
on_watch_fd(void *arg, int fd, uint32_t events)
{
	struct loop_zsock *entry = arg;
	struct loop *loop = entry->loop;

	(void)fd;
	(void)events;
	if (zsock_watch(entry->zsock))
		entry->ready = true;
	if (loop->checks.at_ns == 0 && zsock_needs_checks(entry->zsock)) {
		loop->checks.on_timer = check_connections;
		loop->checks.arg = loop;
		loop_set_timer(loop, &loop->checks,
		    clock_monotonic_ns() + CONNECTION_LIMIT_CHECK_NS,
		    CONNECTION_LIMIT_CHECK_NS);
	}
}

int
loop_add_zsock(struct loop *loop, struct zsock *zsock,
    void (*on_zsock)(void *arg, struct zsock *zsock), void *arg,
    struct err *err)
{
	struct loop_zsock *entry = loop->zsocks;

	while (entry < loop->zsocks + LOOP_ZSOCKS_MAX && entry->zsock != NULL)
		entry++;
	if (entry == loop->zsocks + LOOP_ZSOCKS_MAX)
		return err_set(
		    err, "more than %d ZeroMQ sockets", LOOP_ZSOCKS_MAX);
	if (loop_add_fd(
		loop, zsock_fd(zsock), EPOLLIN, on_zsock_fd, entry, err) != 0)
		return -1;
	if (loop_add_fd(loop, zsock_watch_fd(zsock), EPOLLIN, on_watch_fd,
		entry, err) != 0) {
		loop_remove_fd(loop, zsock_fd(zsock));
		return -1;
	}
	*entry = (struct loop_zsock){ loop, zsock, on_zsock, arg,
		zsock_watch(zsock) };
	return 0;
}

void
loop_remove_zsock(struct loop *loop, struct zsock *zsock)
{
	uint32_t i;

	for (i = 0; i < LOOP_ZSOCKS_MAX; i++) {
		if (loop->zsocks[i].zsock != zsock)
			continue;
		loop_remove_fd(loop, zsock_fd(zsock));
		loop_remove_fd(loop, zsock_watch_fd(zsock));
		loop->zsocks[i].zsock = NULL;
		return;
	}
}

/* Check every socket and remember the results. */
static bool
zsocks_are_ready(struct loop *loop)
{
	bool any = false;
	uint32_t i;

	for (i = 0; i < LOOP_ZSOCKS_MAX; i++) {
		struct loop_zsock *entry = &loop->zsocks[i];

		if (entry->zsock == NULL)
			continue;
		if (!entry->ready)
			entry->ready = zsock_is_ready(entry->zsock);
		any = any || entry->ready;
	}
	return any;
}

static void
dispatch_zsocks(struct loop *loop)
{
	uint32_t i;

	zsocks_are_ready(loop);
	for (i = 0; i < LOOP_ZSOCKS_MAX; i++) {
		struct loop_zsock *entry = &loop->zsocks[i];

		if (entry->zsock == NULL || !entry->ready)
			continue;
		entry->ready = false;
		entry->on_zsock(entry->arg, entry->zsock);
	}
}

/* ---- timers ---- */

void
loop_set_timer(struct loop *loop, struct loop_timer *timer, int64_t at_ns,
    int64_t period_ns)
{
	timers_set(&loop->timers, timer, at_ns, period_ns);
}

void
loop_stop_timer(struct loop *loop, struct loop_timer *timer)
{
	timers_stop(&loop->timers, timer);
}

/* ---- signals and wake-ups ---- */

static void
on_signal_fd(void *arg, int fd, uint32_t events)
{
	struct loop *loop = arg;
	struct signalfd_siginfo info;

	(void)events;
	while (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		const struct loop_signal *signal;

		assert(info.ssi_signo < SIGNALS);
		signal = &loop->signal[info.ssi_signo];
		signal->on_signal(signal->arg, (int)info.ssi_signo);
	}
}

int
loop_add_signal(struct loop *loop, int signo,
    void (*on_signal)(void *arg, int signo), void *arg, struct err *err)
{
	bool first = loop->signals < 0;
	int fd, rc;

	assert(signo > 0 && signo < SIGNALS);
	sigaddset(&loop->signal_set, signo);
	/* Threads started later inherit the mask, so only the loop gets the
	 * signals. */
	rc = pthread_sigmask(SIG_BLOCK, &loop->signal_set, NULL);
	if (rc != 0)
		return err_set(err, "signal mask: %s", strerror(rc));
	fd = signalfd(
	    loop->signals, &loop->signal_set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fd < 0)
		return err_set(err, "signalfd: %s", strerror(errno));
	loop->signals = fd;
	loop->signal[signo] = (struct loop_signal){ on_signal, arg };
	if (!first)
		return 0;
	return loop_add_fd(loop, fd, EPOLLIN, on_signal_fd, loop, err);
}

static void
on_wake_fd(void *arg, int fd, uint32_t events)
{
	struct loop *loop = arg;
	uint64_t count;

	(void)events;
	/* Read before the callback runs, so that a wake-up in between is not
	 * lost. */
	if (read(fd, &count, sizeof(count)) != (ssize_t)sizeof(count))
		return;
	if (atomic_load(&loop->has_failure)) {
		log_error(
		    "%s; exiting, because the process cannot work without it",
		    loop->failure.text);
		loop_quit(loop, EXIT_FAILURE);
	} else if (loop->on_wake != NULL) {
		loop->on_wake(loop->wake_arg);
	}
}

/* Runs in the thread that ends. */
static void
on_thread_end(void *arg, const struct err *failure)
{
	struct loop *loop = arg;

	if (atomic_flag_test_and_set(&loop->failing))
		return; /* the first failure is reported */
	loop->failure = *failure;
	atomic_store(&loop->has_failure, true);
	loop_wake(loop);
}

struct thread_watcher
loop_watcher(struct loop *loop)
{
	return (struct thread_watcher){ on_thread_end, loop };
}

void
loop_wake(struct loop *loop)
{
	uint64_t one = 1;

	/* It fails only when 2^64 - 2 wake-ups are pending. */
	while (write(loop->wake, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

void
loop_set_wake(struct loop *loop, void (*on_wake)(void *arg), void *arg)
{
	loop->on_wake = on_wake;
	loop->wake_arg = arg;
}

void
loop_set_idle(struct loop *loop, void (*on_idle)(void *arg), void *arg)
{
	loop->on_idle = on_idle;
	loop->idle_arg = arg;
}

/* ---- the loop ---- */

int
loop_new(struct loop **loop, struct err *err)
{
	struct loop *new = memory_zero(1, sizeof(*new));

	new->signals = -1;
	sigemptyset(&new->signal_set);
	new->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (new->wake < 0) {
		free(new);
		return err_set(err, "eventfd: %s", strerror(errno));
	}
	if (fds_init(&new->fds, err) != 0 ||
	    loop_add_fd(new, new->wake, EPOLLIN, on_wake_fd, new, err) != 0) {
		loop_free(&new);
		return -1;
	}
	*loop = new;
	return 0;
}

void
loop_free(struct loop **loop)
{
	struct loop *old = *loop;

	if (old == NULL)
		return;
	if (old->signals >= 0)
		close(old->signals);
	close(old->wake);
	fds_clear(&old->fds);
	free(old);
	*loop = NULL;
}

int
loop_run(struct loop *loop)
{
	int timeout_ms;

	for (;;) {
		if (loop->on_idle != NULL)
			loop->on_idle(loop->idle_arg);
		if (loop->quit)
			break;
		timeout_ms =
		    zsocks_are_ready(loop) ? 0 : timers_sleep_ms(&loop->timers);
		fds_wait(&loop->fds, timeout_ms);
		dispatch_zsocks(loop);
		timers_run(&loop->timers);
	}
	loop->quit = false;
	return loop->status;
}

void
loop_quit(struct loop *loop, int status)
{
	loop->quit = true;
	loop->status = status;
}
