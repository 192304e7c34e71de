/*
 * connection_limit - what strangers may cost a door of TCP.
 * SPDX-License-Identifier: MIT
 */
#include "proto/net/connection_limit.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <malloc.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

enum {
	ROOM_FIRST = 64,
	FILES_MAX = 1 << 20,
	PEERS_MIN = 16,
	SHARE = 3, /* of the descriptors: the others are for all else */
	/* A ping and a pong every two seconds, encrypted, and then some. */
	HEARTBEAT_BYTES = 32, /* a look */
};

static uint32_t
share_of_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > FILES_MAX)
		return FILES_MAX / SHARE;
	if (limit.rlim_cur < PEERS_MIN * SHARE)
		return PEERS_MIN;
	return (uint32_t)limit.rlim_cur / SHARE;
}

void
guard_init(struct guard *guard, uint32_t peers_max)
{
	*guard = (struct guard){
		.peers_max = peers_max > 0 ? peers_max : share_of_files(),
		.oldest = -1,
		.youngest = -1,
	};
}

void
guard_clear(struct guard *guard)
{
	free(guard->at);
	guard->at = NULL;
	guard->room = guard->peers = 0;
	guard->oldest = guard->youngest = -1;
}

/* ---- who is there ---- */

static struct guard_peer *
find(struct guard *guard, int fd)
{
	if (fd < 0 || (uint32_t)fd >= guard->room || !guard->at[fd].there)
		return NULL;
	return &guard->at[fd];
}

/* Descriptors are small numbers: no table grows by a wild one. */
static bool
is_tcp(int fd)
{
	int domain = 0;
	socklen_t bytes = sizeof(domain);

	return fd >= 0 && fd < FILES_MAX &&
	       getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) == 0 &&
	       (domain == AF_INET || domain == AF_INET6);
}

static void
make_room(struct guard *guard, uint32_t fd)
{
	uint32_t room = guard->room == 0 ? ROOM_FIRST : guard->room;

	while (room <= fd)
		room *= 2;
	if (room == guard->room)
		return;
	guard->at = reallocarray(guard->at, room, sizeof(*guard->at));
	if (guard->at == NULL)
		abort();
	memset(guard->at + guard->room, 0,
	    (room - guard->room) * sizeof(*guard->at));
	guard->room = room;
}

static void
link_youngest(struct guard *guard, int fd)
{
	struct guard_peer *peer = &guard->at[fd];

	peer->older = guard->youngest;
	peer->younger = -1;
	if (guard->youngest >= 0)
		guard->at[guard->youngest].younger = fd;
	else
		guard->oldest = fd;
	guard->youngest = fd;
}

static void
unlink_peer(struct guard *guard, const struct guard_peer *peer)
{
	if (peer->older >= 0)
		guard->at[peer->older].younger = peer->younger;
	else
		guard->oldest = peer->younger;
	if (peer->younger >= 0)
		guard->at[peer->younger].older = peer->older;
	else
		guard->youngest = peer->older;
}

static void
forget(struct guard *guard, struct guard_peer *peer)
{
	if (!peer->proven)
		unlink_peer(guard, peer);
	peer->there = false;
	guard->peers--;
}

/* libzmq says later that it is gone, of which nobody knows any more. */
static void
turn_away(struct guard *guard, int fd)
{
	shutdown(fd, SHUT_RDWR);
	forget(guard, &guard->at[fd]);
	guard->turned_away++;
}

void
guard_accepted(struct guard *guard, int fd)
{
	if (!is_tcp(fd))
		return;
	guard_gone(guard, fd);
	make_room(guard, (uint32_t)fd);
	guard->at[fd] = (struct guard_peer){ .there = true };
	guard->peers++;
	link_youngest(guard, fd);
	/* Where all others are proven it is this one. */
	if (guard->peers > guard->peers_max)
		turn_away(guard, guard->oldest);
}

void
guard_gone(struct guard *guard, int fd)
{
	struct guard_peer *peer = find(guard, fd);

	if (peer != NULL)
		forget(guard, peer);
}

void
guard_delivered(struct guard *guard, int fd)
{
	struct guard_peer *peer = find(guard, fd);

	if (peer == NULL)
		return;
	if (!peer->proven)
		unlink_peer(guard, peer);
	peer->proven = peer->delivered = true;
}

/* ---- what they may not ---- */

/* What libzmq has of it: what came, without what lies in the kernel. */
static bool
taken_of(int fd, uint64_t *bytes)
{
	struct tcp_info info = { 0 };
	socklen_t size = sizeof(info);
	int waiting = 0;

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
	    size < offsetof(struct tcp_info, tcpi_bytes_received) +
		       sizeof(info.tcpi_bytes_received) ||
	    ioctl(fd, SIOCINQ, &waiting) != 0)
		return false;
	*bytes = info.tcpi_bytes_received;
	*bytes -= *bytes < (uint64_t)waiting ? *bytes : (uint64_t)waiting;
	return true;
}

/* Does it hold back more than it may? */
static bool
holds_back(struct guard_peer *peer, int fd, uint64_t bytes_max)
{
	uint64_t bytes, more;

	if (!taken_of(fd, &bytes))
		return false;
	if (peer->delivered || bytes < peer->mark_bytes) {
		peer->delivered = false;
		peer->mark_bytes = bytes;
		return false;
	}
	more = bytes - peer->mark_bytes;
	if (more > bytes_max)
		return true;
	peer->mark_bytes += more < HEARTBEAT_BYTES ? more : HEARTBEAT_BYTES;
	return false;
}

void
guard_look(struct guard *guard, uint64_t bytes_max)
{
	/* libzmq has let go of what was cut before. */
	if (guard->trim)
		malloc_trim(0);
	guard->trim = false;
	for (uint32_t fd = 0; fd < guard->room; fd++) {
		struct guard_peer *peer = &guard->at[fd];

		if (!peer->there || !holds_back(peer, (int)fd, bytes_max))
			continue;
		shutdown((int)fd, SHUT_RDWR);
		forget(guard, peer);
		guard->cut++;
		guard->trim = true;
	}
}
