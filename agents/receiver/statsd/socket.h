/*
 * socket - where the clients of statsd send their datagrams.
 *
 * A Unix socket makes a client wait while it is full, and loses nothing.  A UDP
 * socket drops what it has no room for; the kernel counts that, and so what was
 * received and what was lost are together what was sent.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_STATSD_SOCKET_H
#define AGENTS_RECEIVER_STATSD_SOCKET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/os/lockfile.h"

enum {
	STATSD_DATAGRAM_BYTES_MAX = 64 << 10,
	STATSD_DATAGRAMS = 64, /* that are received with one call */
	/* What the kernel is asked to queue; it gives net.core.rmem_max. */
	STATSD_QUEUE_BYTES = 8 << 20,
};

struct statsd_socket {
	int fd; /* -1: none */
	struct lockfile lockfile;
	struct held_file *held; /* of a Unix socket */
	const char *path;
	uint32_t dropped; /* by the kernel, modulo 2^32, at the last
			     statsd_socket_lost */
};

/* Is it ADDRESS:PORT with a loopback address? */
int statsd_socket_check(const char *address, struct err *err);

/* `path` must outlive it. */
int statsd_socket_open_unix(
    struct statsd_socket *statsd_socket, const char *path, struct err *err);
int statsd_socket_open_udp(
    struct statsd_socket *statsd_socket, const char *address, struct err *err);
void statsd_socket_close(struct statsd_socket *statsd_socket);

/* Datagrams that were received together. */
struct statsd_batch; /* opaque */

void statsd_batch_new(struct statsd_batch **batch);
void statsd_batch_free(struct statsd_batch **batch);
/* Receive what is there, without waiting; returns how many datagrams. */
uint32_t statsd_batch_receive(
    struct statsd_batch *batch, const struct statsd_socket *statsd_socket);
/* `is_cut`: it was longer than STATSD_DATAGRAM_BYTES_MAX. */
struct text statsd_batch_datagram(
    const struct statsd_batch *batch, uint32_t number, bool *is_cut);

/* How many datagrams the kernel has dropped since the last call. */
uint32_t statsd_socket_lost(struct statsd_socket *statsd_socket);

#endif
