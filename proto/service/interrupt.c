/*
 * interrupt - blocks INT and TERM until the program looks for them.
 * SPDX-License-Identifier: MIT
 */
#include "proto/service/interrupt.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>

#include "proto/os/clock.h"

static sigset_t
endings(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	return set;
}

void
interrupt_hold(void)
{
	sigset_t set = endings();

	sigprocmask(SIG_BLOCK, &set, NULL);
}

bool
interrupt_is_pending(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 && (sigismember(&pending, SIGINT) ||
						sigismember(&pending, SIGTERM));
}

/* Signals belong to the process, and so does the descriptor that shows them. */
static int the_fd = -1;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
open_fd(void)
{
	sigset_t set = endings();

	the_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int
interrupt_fd(void)
{
	pthread_once(&once, open_fd);
	return the_fd;
}

bool
interrupt_sleep(int64_t ns)
{
	int64_t until_ns = clock_monotonic_ns() + ns, left_ns = ns;
	struct pollfd fd = { .fd = interrupt_fd(), .events = POLLIN };

	for (; left_ns > 0; left_ns = until_ns - clock_monotonic_ns()) {
		int64_t ms = (left_ns + 999999) / 1000000;

		if (poll(&fd, 1, ms > INT_MAX ? INT_MAX : (int)ms) > 0)
			return false;
	}
	return !interrupt_is_pending();
}
