/*
 * connection_limit - bounds what a connection can cost.
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

#include "proto/base/memory.h"

enum {
	ROOM_FIRST = 64,
	FILES_MAX = 1 << 20,
	PEERS_MIN = 16,
	SHARE = 3, /* one of three descriptors may be a peer */
	/* Allowed in each interval between checks: an encrypted ping and pong
	 * every two seconds, with a margin. */
	HEARTBEAT_BYTES = 32,
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
connection_limit_init(
    struct connection_limit *connection_limit, uint32_t peers_max)
{
	*connection_limit = (struct connection_limit){
		.peers_max = peers_max > 0 ? peers_max : share_of_files(),
		.oldest = -1,
		.youngest = -1,
	};
}

void
connection_limit_clear(struct connection_limit *connection_limit)
{
	free(connection_limit->at);
	connection_limit->at = NULL;
	connection_limit->room = connection_limit->peers = 0;
	connection_limit->oldest = connection_limit->youngest = -1;
}

/* ---- connections ---- */

static struct connection_limit_peer *
find(struct connection_limit *connection_limit, int fd)
{
	if (fd < 0 || (uint32_t)fd >= connection_limit->room ||
	    !connection_limit->at[fd].known)
		return NULL;
	return &connection_limit->at[fd];
}

/* The table is indexed by descriptor, so a huge one must not reach it.  The
 * connection may be closed already. */
static bool
is_socket(int fd)
{
	int type = 0;
	socklen_t bytes = sizeof(type);

	return fd >= 0 && fd < FILES_MAX &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0;
}

static void
make_room(struct connection_limit *connection_limit, uint32_t fd)
{
	uint32_t room =
	    connection_limit->room == 0 ? ROOM_FIRST : connection_limit->room;

	while (room <= fd)
		room *= 2;
	if (room == connection_limit->room)
		return;
	connection_limit->at = memory_resize_array(
	    connection_limit->at, room, sizeof(*connection_limit->at));
	memset(connection_limit->at + connection_limit->room, 0,
	    (room - connection_limit->room) * sizeof(*connection_limit->at));
	connection_limit->room = room;
}

static void
link_youngest(struct connection_limit *connection_limit, int fd)
{
	struct connection_limit_peer *peer = &connection_limit->at[fd];

	peer->older = connection_limit->youngest;
	peer->younger = -1;
	if (connection_limit->youngest >= 0)
		connection_limit->at[connection_limit->youngest].younger = fd;
	else
		connection_limit->oldest = fd;
	connection_limit->youngest = fd;
}

static void
unlink_peer(struct connection_limit *connection_limit,
    const struct connection_limit_peer *peer)
{
	if (peer->older >= 0)
		connection_limit->at[peer->older].younger = peer->younger;
	else
		connection_limit->oldest = peer->younger;
	if (peer->younger >= 0)
		connection_limit->at[peer->younger].older = peer->older;
	else
		connection_limit->youngest = peer->older;
}

static void
forget(struct connection_limit *connection_limit,
    struct connection_limit_peer *peer)
{
	if (!peer->proven)
		unlink_peer(connection_limit, peer);
	peer->known = false;
	connection_limit->peers--;
}

/* libzmq reports the close later; by then the peer is unknown here. */
static void
evict(struct connection_limit *connection_limit, int fd)
{
	shutdown(fd, SHUT_RDWR);
	forget(connection_limit, &connection_limit->at[fd]);
	connection_limit->evicted++;
}

void
connection_limit_accepted(struct connection_limit *connection_limit, int fd)
{
	if (!is_socket(fd))
		return;
	connection_limit_closed(connection_limit, fd);
	make_room(connection_limit, (uint32_t)fd);
	connection_limit->at[fd] =
	    (struct connection_limit_peer){ .known = true };
	connection_limit->peers++;
	link_youngest(connection_limit, fd);
	/* If all others are proven, the oldest unproven is the new one. */
	if (connection_limit->peers > connection_limit->peers_max)
		evict(connection_limit, connection_limit->oldest);
}

void
connection_limit_closed(struct connection_limit *connection_limit, int fd)
{
	struct connection_limit_peer *peer = find(connection_limit, fd);

	if (peer != NULL)
		forget(connection_limit, peer);
}

void
connection_limit_delivered(struct connection_limit *connection_limit, int fd)
{
	struct connection_limit_peer *peer = find(connection_limit, fd);

	if (peer == NULL)
		return;
	if (!peer->proven)
		unlink_peer(connection_limit, peer);
	peer->proven = peer->delivered = true;
}

/* ---- limits ---- */

/* Bytes that libzmq has read: received, without those still in the kernel.  Of
 * a Unix socket nobody knows. */
static bool
bytes_read(int fd, uint64_t *bytes)
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

/* Has it sent more unfinished data than allowed? */
static bool
exceeds(struct connection_limit_peer *peer, int fd, uint64_t bytes_max)
{
	uint64_t bytes, more;

	if (!bytes_read(fd, &bytes))
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
connection_limit_check(
    struct connection_limit *connection_limit, uint64_t bytes_max)
{
	/* By now libzmq has freed what the connections dropped in the previous
	 * check had sent. */
	if (connection_limit->trim)
		malloc_trim(0);
	connection_limit->trim = false;
	for (uint32_t fd = 0; fd < connection_limit->room; fd++) {
		struct connection_limit_peer *peer = &connection_limit->at[fd];

		if (!peer->known || !exceeds(peer, (int)fd, bytes_max))
			continue;
		shutdown((int)fd, SHUT_RDWR);
		forget(connection_limit, peer);
		connection_limit->dropped++;
		connection_limit->trim = true;
	}
}
