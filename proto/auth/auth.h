/*
 * auth - authenticates peers of the TCP listeners of this process, and
 * authorizes every message.
 *
 * Holds the server key and the list of authorized keys, answers libzmq's
 * authentication requests (ZAP, ZeroMQ RFC 27) in a thread of its own, and
 * checks every message against the current list: a revoked key loses access at
 * once, even on an open connection.  One authenticator per process, opened
 * before any listener.  All functions but open and close may be called from any
 * thread.
 *
 * Peers of Unix sockets, and of listeners with --insecure, have no key and all
 * rights.  A broker forwards the identity of its peers
 * (proto/auth/forwarded_peer.h); an aggregator checks the forwarded key.
 * SPDX-License-Identifier: MIT
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
	const char *server_key; /* file; NULL: DIR/keys/server.key */
	const char *allow;      /* file; NULL: DIR/keys/allow */
	/* The process has TCP listeners with keys: auth_open fails unless the
	 * server key exists and the ZAP handler can be bound. */
	bool listeners;
	/* Also check forwarded identities.  False for a broker, whose upstream
	 * does that. */
	bool checks_forwarded;
	/* Notified when the handler's thread ends; zeros: nobody is. */
	struct thread_watcher watcher;
};

int auth_open(
    struct auth **auth, const struct auth_options *options, struct err *err);
void auth_close(struct auth **auth);

/* Read the list and the server key again.  -1: a file is bad, and both stay as
 * they were.  `*rekeyed`: the server key has changed; call zsock_rekey for each
 * listener. */
int auth_reload(struct auth *auth, bool *rekeyed, struct err *err);

/* For zsock_options.server_secret: ZSOCK_KEY_BYTES, or NULL without TCP
 * listeners. */
const unsigned char *auth_secret(const struct auth *auth);

/* What a message asks for. */
enum auth_want {
	AUTH_PUBLISH, /* hello, batch, gap, bye: agents, also through brokers */
	AUTH_READ,    /* select, stats, follow: readers */
	AUTH_STATUS,  /* status: readers, of the partitions of auth_readable */
};

enum auth_verdict {
	AUTH_OK,
	AUTH_SHAPE,     /* routing frames that the peer's role does not allow */
	AUTH_KEY,       /* the key is not authorized, or was revoked */
	AUTH_ROLE,      /* the key's role does not allow it */
	AUTH_PARTITION, /* the key does not cover this partition */
	AUTH_NODE,      /* the key does not cover this node */
	AUTH_SESSION,   /* the session belongs to another sender */
	AUTH_VERDICTS,
};
const char *auth_verdict_name(enum auth_verdict verdict);

/* Is this message allowed?  Counts a refused one, and logs it (key, reason,
 * partition, node) at most once a minute for each key and reason.  `auth` NULL:
 * the process has no keys, and every message is allowed. */
enum auth_verdict auth_check(struct auth *auth,
    const struct zsock_message *message, enum auth_want want,
    struct text partition, struct text node);

/* Of the message that auth_check refused last in this thread: what its key may
 * do, for the sender; a view, valid until the next check. */
struct text auth_why(void);

/* Of the status question that auth_check allowed last in this thread: the
 * pattern of the partitions that its sender may see, "*" for all; a view, valid
 * until the next check. */
struct text auth_readable(void);

/* May the key of this allowed message, or that of the broker which forwarded
 * it, publish for some nodes only?  Then auth_check must allow the node of
 * each record in the message, too. */
bool auth_limits_nodes(struct auth *auth, const struct zsock_message *message);

/* Who sent this allowed message, directly or through a broker: the same for all
 * keys of a name, so that a rotation changes nothing; without a key the user of
 * the Unix socket, of this machine or of a broker with a key, or nobody in
 * particular.  Never 0. */
uint64_t auth_sender(struct auth *auth, const struct zsock_message *message);

/* This allowed message is refused all the same, because its session belongs to
 * another sender: count it, and log it as auth_check does. */
void auth_refuse_session(struct auth *auth, const struct zsock_message *message,
    struct text partition, struct text node);

struct auth_counters {
	uint64_t handshakes;               /* accepted */
	uint64_t handshakes_refused;       /* their key is not authorized */
	uint64_t forbidden[AUTH_VERDICTS]; /* refused messages by reason */
	uint64_t keys;                     /* authorized now */
	uint64_t reloads, reloads_failed;
};
void auth_counters(struct auth *auth, struct auth_counters *counters);
/* Sum of the refused messages. */
uint64_t auth_forbidden(const struct auth_counters *counters);

#endif
