/*
 * auth - who may come in through the TCP doors of this process, and what each
 * may do there.
 *
 * Holds the server's key and the allow list, answers libzmq's question who may
 * connect (ZAP, ZeroMQ RFC 27) in a thread of its own, and judges every
 * message against the list of now: a key that was revoked is out at once,
 * connected or not.  One gate per process, opened before any listener.  All
 * functions but open and close may be called from any thread.
 *
 * Peers of Unix sockets, and of doors with --insecure, have no key and all
 * rights.  A broker vouches for its peers (proto/auth/forwarded_peer.h); a
 * aggregator judges by the key that is forwarded for. SPDX-License-Identifier:
 * MIT
 */
#ifndef PROTO_AUTH_AUTH_H
#define PROTO_AUTH_AUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/net/zsock.h"
#include "proto/os/thread.h"

struct auth; /* opaque */

struct auth_options {
	const char *server_key; /* file; NULL: keys/server.key of --dir */
	const char *allow;      /* file; NULL: keys/allow of --dir */
	/* There are TCP doors with keys: the server's key must be there, and
	 * the handler must be bound, or auth_open fails. */
	bool doors;
	/* Who is forwarded for is judged here too; a broker behind which
	 * others keep leaves that to them. */
	bool keeps;
	/* Hears of the end of the handler's thread; zeros: nobody. */
	struct thread_watcher watcher;
};

int auth_open(
    struct auth **auth, const struct auth_options *options, struct err *err);
void auth_close(struct auth **auth);

/* Read list and server key again.  -1: a file is bad, and both are as they
 * were.  `*rekeyed`: the doors must be bound anew (zsock_rekey). */
int auth_reload(struct auth *auth, bool *rekeyed, struct err *err);

/* For port_options.server_secret: ZSOCK_KEY_BYTES, or NULL without doors. */
const unsigned char *auth_secret(const struct auth *auth);

/* What a message wants. */
enum auth_want {
	AUTH_PUBLISH, /* hello, batch, gap, bye: agents, through brokers too */
	AUTH_READ,    /* select, stats, follow: readers */
	AUTH_STATUS,  /* of all partitions: readers of "*" */
};

enum auth_verdict {
	AUTH_OK,
	AUTH_SHAPE,     /* routing frames that such a peer cannot have */
	AUTH_KEY,       /* the key is not, or no longer, in the list */
	AUTH_ROLE,      /* ... is one for something else */
	AUTH_PARTITION, /* ... does not reach this partition */
	AUTH_NODE,      /* ... does not speak for this node */
	AUTH_VERDICTS,
};
const char *auth_verdict_name(enum auth_verdict verdict);

/* May this message be taken?  What is refused is counted and logged (key,
 * reason, partition, node; at most once a minute for each key and reason).
 * `gate` may be NULL: then nobody has a key, and all may pass. */
enum auth_verdict auth_judge(struct auth *auth, const struct message *message,
    enum auth_want want, struct text partition, struct text node);

/* Is the key of this message, which was judged, bound to some nodes?  Then
 * `pattern` gets which: nodes of records inside of it count as well. */
bool auth_is_bound(struct auth *auth, const struct message *message,
    char pattern[static NAME_BYTES_MAX + 1]);

struct auth_counters {
	uint64_t handshakes;               /* let in */
	uint64_t handshakes_refused;       /* keys that are not in the list */
	uint64_t forbidden[AUTH_VERDICTS]; /* messages, by reason */
	uint64_t keys;                     /* in the list now */
	uint64_t reloads, reloads_failed;
};
void auth_counters(struct auth *auth, struct auth_counters *counters);
/* Sum of the refused messages. */
uint64_t auth_forbidden(const struct auth_counters *counters);

#endif
