/*
 * socket - where the clients of statsd send their datagrams.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/statsd/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sock_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/accept/local_listen.h"
#include "proto/base/memory.h"
#include "proto/base/number.h"

struct statsd_batch {
	struct mmsghdr message[STATSD_DATAGRAMS];
	struct iovec vector[STATSD_DATAGRAMS];
	char bytes[STATSD_DATAGRAMS][STATSD_DATAGRAM_BYTES_MAX];
};

/* ---- addresses ---- */

struct address {
	struct sockaddr_storage at;
	socklen_t bytes;
};

static int
parse(struct address *address, const char *text, struct err *err)
{
	struct sockaddr_in *four = (struct sockaddr_in *)(void *)&address->at;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)(void *)&address->at;
	const char *colon = strrchr(text, ':');
	int bytes = colon != NULL ? (int)(colon - text) : 0;
	char host[INET6_ADDRSTRLEN + 1], shown[64];
	bool is_loopback = false;
	uint64_t port = 0;

	*address = (struct address){ .bytes = 0 };
	if (colon != NULL)
		(void)number_parse_u64(text_of(colon + 1), &port, NULL);
	if (bytes > 2 && text[0] == '[' && colon[-1] == ']') {
		snprintf(host, sizeof(host), "%.*s", bytes - 2, text + 1);
		*six = (struct sockaddr_in6){ .sin6_family = AF_INET6,
			.sin6_port = htons((uint16_t)port) };
		address->bytes = sizeof(*six);
		is_loopback = inet_pton(AF_INET6, host, &six->sin6_addr) == 1 &&
			      IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
	} else {
		snprintf(host, sizeof(host), "%.*s", bytes, text);
		*four = (struct sockaddr_in){ .sin_family = AF_INET,
			.sin_port = htons((uint16_t)port) };
		address->bytes = sizeof(*four);
		is_loopback = inet_pton(AF_INET, host, &four->sin_addr) == 1 &&
			      ntohl(four->sin_addr.s_addr) >> 24 == 127;
	}
	if (is_loopback && port > 0 && port <= UINT16_MAX)
		return 0;
	return err_set(err,
	    "'%s' is not ADDRESS:PORT with an address of this host only, such "
	    "as 127.0.0.1:8125 or [::1]:8125",
	    text_quote(shown, sizeof(shown), text_of(text)));
}

int
statsd_socket_check(const char *address, struct err *err)
{
	struct address parsed;

	return parse(&parsed, address, err);
}

/* ---- sockets ---- */

static void
widen(int fd)
{
	const int bytes = STATSD_QUEUE_BYTES;

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

/* Somebody has removed the socket: make it again.  The thread that receives
 * goes on with the same descriptor. */
static int
bind_again(void *arg, struct err *err)
{
	const struct statsd_socket *statsd_socket = arg;
	int fd, rc;

	if (local_listen_bind(&fd, statsd_socket->path, SOCK_DGRAM, err) != 0)
		return -1;
	widen(fd);
	rc = dup3(fd, statsd_socket->fd, O_CLOEXEC);
	if (rc < 0)
		err_set(err, "%s: %s", statsd_socket->path, strerror(errno));
	close(fd);
	return rc < 0 ? -1 : 0;
}

int
statsd_socket_open_unix(
    struct statsd_socket *statsd_socket, const char *path, struct err *err)
{
	*statsd_socket = (struct statsd_socket){ .fd = -1, .path = path };
	if (local_listen(&statsd_socket->fd, &statsd_socket->lockfile, path,
		SOCK_DGRAM, err) != 0)
		return -1;
	widen(statsd_socket->fd);
	statsd_socket->held = held_file_add(path, bind_again, statsd_socket);
	return 0;
}

int
statsd_socket_open_udp(
    struct statsd_socket *statsd_socket, const char *text, struct err *err)
{
	struct address address;

	*statsd_socket = (struct statsd_socket){ .fd = -1 };
	if (parse(&address, text, err) != 0)
		return -1;
	statsd_socket->fd = socket(
	    address.at.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (statsd_socket->fd < 0)
		return err_set(err, "%s: %s", text, strerror(errno));
	widen(statsd_socket->fd);
	if (bind(statsd_socket->fd, (const struct sockaddr *)&address.at,
		address.bytes) != 0)
		return err_set(err, "%s: %s", text, strerror(errno));
	return 0;
}

void
statsd_socket_close(struct statsd_socket *statsd_socket)
{
	held_file_drop(&statsd_socket->held);
	if (statsd_socket->fd >= 0) {
		close(statsd_socket->fd);
		if (statsd_socket->path != NULL)
			unlink(statsd_socket->path);
	}
	statsd_socket->fd = -1;
	lockfile_release(&statsd_socket->lockfile);
}

/* ---- datagrams ---- */

void
statsd_batch_new(struct statsd_batch **made)
{
	struct statsd_batch *batch = memory_alloc(sizeof(*batch));

	for (int i = 0; i < STATSD_DATAGRAMS; i++) {
		batch->vector[i] = (struct iovec){ batch->bytes[i],
			STATSD_DATAGRAM_BYTES_MAX };
		batch->message[i] =
		    (struct mmsghdr){ .msg_hdr = { .msg_iov = &batch->vector[i],
					  .msg_iovlen = 1 } };
	}
	*made = batch;
}

void
statsd_batch_free(struct statsd_batch **batch)
{
	free(*batch);
	*batch = NULL;
}

uint32_t
statsd_batch_receive(
    struct statsd_batch *batch, const struct statsd_socket *statsd_socket)
{
	int received = recvmmsg(statsd_socket->fd, batch->message,
	    STATSD_DATAGRAMS, MSG_DONTWAIT, NULL);

	return received > 0 ? (uint32_t)received : 0;
}

struct text
statsd_batch_datagram(
    const struct statsd_batch *batch, uint32_t number, bool *is_cut)
{
	const struct mmsghdr *message = &batch->message[number];

	*is_cut = (message->msg_hdr.msg_flags & MSG_TRUNC) != 0;
	return (struct text){ batch->bytes[number], message->msg_len };
}

/* Not SO_RXQ_OVFL: that comes with a later datagram, so never for what was
 * dropped after the last one. */
uint32_t
statsd_socket_lost(struct statsd_socket *statsd_socket)
{
	uint32_t memory[SK_MEMINFO_VARS] = { 0 }, lost;
	socklen_t bytes = sizeof(memory);

	if (getsockopt(
		statsd_socket->fd, SOL_SOCKET, SO_MEMINFO, memory, &bytes) != 0)
		return 0;
	lost = memory[SK_MEMINFO_DROPS] - statsd_socket->dropped;
	statsd_socket->dropped = memory[SK_MEMINFO_DROPS];
	return lost;
}
