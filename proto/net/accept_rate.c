/*
 * accept_rate - how many connections a second may come.
 * SPDX-License-Identifier: MIT
 */
#include "proto/net/accept_rate.h"

#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "proto/os/clock.h"

#define BURST_NS (TURNSTILE_BURST_SECONDS * NS_PER_SECOND)
#define SHUT_NS  (TURNSTILE_SHUT_SECONDS * NS_PER_SECOND)

void
turnstile_init(struct turnstile *turnstile, uint32_t per_second)
{
	*turnstile = (struct turnstile){ .per_second = per_second };
}

static int
get(int fd, int option)
{
	int value = 0;
	socklen_t bytes = sizeof(value);

	if (getsockopt(fd, SOL_SOCKET, option, &value, &bytes) != 0)
		return -1;
	return value;
}

static bool
listens_to_tcp(int fd)
{
	int domain = get(fd, SO_DOMAIN);

	return (domain == AF_INET || domain == AF_INET6) &&
	       get(fd, SO_ACCEPTCONN) == 1;
}

/* Where the kernel has no filters all come in, as they did before. */
static void
shut(int fd)
{
	struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
	const struct sock_fprog program = { 1, &nothing };

	if (listens_to_tcp(fd))
		setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
		    sizeof(program));
}

static void
open_again(int fd)
{
	const int unused = 0;

	setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof(unused));
}

void
turnstile_add(struct turnstile *turnstile, int listener)
{
	if (turnstile->per_second == 0 || !listens_to_tcp(listener) ||
	    turnstile->listeners == TURNSTILE_LISTENERS_MAX)
		return;
	turnstile->listener[turnstile->listeners++] = listener;
	if (turnstile->shut)
		shut(listener);
}

void
turnstile_remove(struct turnstile *turnstile, int listener)
{
	for (uint32_t i = 0; i < turnstile->listeners; i++) {
		if (turnstile->listener[i] != listener)
			continue;
		turnstile->listener[i] =
		    turnstile->listener[--turnstile->listeners];
		return;
	}
}

void
turnstile_count(struct turnstile *turnstile, int fd, int64_t now_ns)
{
	if (turnstile->listeners == 0)
		return;
	/* One that came while the filter was put on may have it, too. */
	if (turnstile->shuts > 0)
		open_again(fd);
	if (turnstile->paid_ns < now_ns)
		turnstile->paid_ns = now_ns;
	turnstile->paid_ns += NS_PER_SECOND / turnstile->per_second;
	/* Many may have come before we saw the first. */
	if (turnstile->paid_ns - now_ns > BURST_NS + SHUT_NS)
		turnstile->paid_ns = now_ns + BURST_NS + SHUT_NS;
	if (turnstile->shut || turnstile->paid_ns - now_ns <= BURST_NS)
		return;
	turnstile->shut = true;
	turnstile->shuts++;
	for (uint32_t i = 0; i < turnstile->listeners; i++)
		shut(turnstile->listener[i]);
}

void
turnstile_look(struct turnstile *turnstile, int64_t now_ns)
{
	if (!turnstile->shut || turnstile->paid_ns - now_ns > BURST_NS)
		return;
	turnstile->shut = false;
	for (uint32_t i = 0; i < turnstile->listeners; i++)
		open_again(turnstile->listener[i]);
}
