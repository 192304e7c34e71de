/*
 * accept_rate - limits the connections a second.
 * SPDX-License-Identifier: MIT
 */
#include "proto/net/accept_rate.h"

#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "proto/os/clock.h"

#define BURST_NS (ACCEPT_RATE_BURST_SECONDS * NS_PER_SECOND)
#define PAUSE_NS (ACCEPT_RATE_PAUSE_SECONDS * NS_PER_SECOND)

void
accept_rate_init(struct accept_rate *accept_rate, uint32_t per_second)
{
	*accept_rate = (struct accept_rate){ .per_second = per_second };
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

/* Without socket filters in the kernel there is no limit. */
static void
attach_filter(int fd)
{
	struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
	const struct sock_fprog program = { 1, &nothing };

	if (listens_to_tcp(fd))
		setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
		    sizeof(program));
}

static void
detach_filter(int fd)
{
	const int unused = 0;

	setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof(unused));
}

void
accept_rate_add(struct accept_rate *accept_rate, int listener)
{
	if (accept_rate->per_second == 0 || !listens_to_tcp(listener) ||
	    accept_rate->listeners == ACCEPT_RATE_LISTENERS_MAX)
		return;
	accept_rate->listener[accept_rate->listeners++] = listener;
	if (accept_rate->paused)
		attach_filter(listener);
}

void
accept_rate_remove(struct accept_rate *accept_rate, int listener)
{
	for (uint32_t i = 0; i < accept_rate->listeners; i++) {
		if (accept_rate->listener[i] != listener)
			continue;
		accept_rate->listener[i] =
		    accept_rate->listener[--accept_rate->listeners];
		return;
	}
}

void
accept_rate_count(struct accept_rate *accept_rate, int fd, int64_t now_ns)
{
	if (accept_rate->listeners == 0)
		return;
	/* A connection accepted while the filter was attached may have
	 * inherited it. */
	if (accept_rate->pauses > 0)
		detach_filter(fd);
	if (accept_rate->paid_ns < now_ns)
		accept_rate->paid_ns = now_ns;
	accept_rate->paid_ns += NS_PER_SECOND / accept_rate->per_second;
	/* Connections that were waiting arrive all at once; without a bound
	 * they would make the pause long. */
	if (accept_rate->paid_ns - now_ns > BURST_NS + PAUSE_NS)
		accept_rate->paid_ns = now_ns + BURST_NS + PAUSE_NS;
	if (accept_rate->paused || accept_rate->paid_ns - now_ns <= BURST_NS)
		return;
	accept_rate->paused = true;
	accept_rate->pauses++;
	for (uint32_t i = 0; i < accept_rate->listeners; i++)
		attach_filter(accept_rate->listener[i]);
}

void
accept_rate_check(struct accept_rate *accept_rate, int64_t now_ns)
{
	if (!accept_rate->paused || accept_rate->paid_ns - now_ns > BURST_NS)
		return;
	accept_rate->paused = false;
	for (uint32_t i = 0; i < accept_rate->listeners; i++)
		detach_filter(accept_rate->listener[i]);
}
