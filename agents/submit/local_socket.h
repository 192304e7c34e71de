/*
 * local_socket - the client's side of the agent's local listener.
 *
 * One frame a packet on a Unix SOCK_SEQPACKET (proto/wire.md, "Local socket").
 * An unanswered submission is sent again on a new connection: the uuids in its
 * records make that harmless.  It uses no ZeroMQ and no thread, so that a
 * command of two milliseconds can afford it.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SUBMIT_LOCAL_SOCKET_H
#define AGENTS_SUBMIT_LOCAL_SOCKET_H

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/wire/wire.h"

struct local_socket {
	const char *path;  /* the caller's, valid while this is in use */
	int fd;            /* -1: not connected */
	uint32_t connects; /* number of connections so far */
	/* From the agent's last answer: its partition and node, and why the
	 * aggregator refuses what the answer is about ("" if it does not). */
	char partition[NAME_BYTES_MAX + 1], node[NAME_BYTES_MAX + 1];
	char forbidden[NAME_BYTES_MAX + 1];
};

enum local_socket_result {
	LOCAL_SOCKET_DONE,
	LOCAL_SOCKET_REFUSED, /* `reason` has the reason; of local_socket_put,
				 `err` has the agent's sentence, if any */
	LOCAL_SOCKET_ABSENT,  /* nobody listens there */
	LOCAL_SOCKET_TIMEOUT,
	LOCAL_SOCKET_LOST,  /* local_socket_wait: the connection broke; submit
			       again */
	LOCAL_SOCKET_ERROR, /* `err` has the error */
};

void local_socket_init(struct local_socket *local_socket, const char *path);
void local_socket_clear(struct local_socket *local_socket);

/* Submit a frame whose header has this seq: LOCAL_SOCKET_DONE once it is on
 * disk in the agent's spool.  `deadline_ns` is monotonic. */
enum local_socket_result local_socket_put(struct local_socket *local_socket,
    struct text frame, uint64_t seq, int64_t deadline_ns,
    enum wire_reason *reason, struct err *err);

/* After a submission with WIRE_FLAG_WAIT: LOCAL_SOCKET_DONE once the
 * aggregator has it. */
enum local_socket_result local_socket_wait(struct local_socket *local_socket,
    uint64_t seq, int64_t deadline_ns, enum wire_reason *reason);

#endif
