/*
 * spool_uplink - sends the batches of the spool to the aggregator.
 *
 * It joins three modules that do not know each other, on the loop's timers:
 * the spool (disk), the sender (protocol) and a socket (connection to a
 * broker).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DELIVERY_SPOOL_UPLINK_H
#define AGENTS_DELIVERY_SPOOL_UPLINK_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/delivery/broker_link.h"
#include "agents/delivery/sender.h"
#include "agents/spool/spool.h"
#include "proto/base/err.h"
#include "proto/net/loop/loop.h"

struct spool_uplink_options {
	struct loop *loop;
	struct spool *spool;
	struct broker_link *broker_link; /* initialized by broker_link_choose */
	struct text partition, node;     /* the agent's own */

	/* Callbacks to the owner; each may be called within
	 * spool_uplink_push. */
	void *arg;
	/* Commit the records written to the spool so far: afterwards its
	 * session ends. */
	void (*commit)(void *arg);
	void (*on_acked)(void *arg); /* something was acknowledged */
	/* A batch was moved aside for good; a gap replaces it. */
	void (*on_refused)(
	    void *arg, uint32_t stream, uint64_t seq, enum wire_reason reason);
	/* Batches of one stream have numbers of another one now. */
	void (*on_moved)(void *arg, uint32_t from, uint32_t to);
	/* The key does not permit what this stream has, which waits in the
	 * spool. */
	void (*on_forbidden)(void *arg, uint32_t stream);
	/* An answer is a clock probe; true: send another one. */
	bool (*on_probed)(void *arg, const struct clock_offset_probe *probe);
};

struct spool_uplink; /* opaque */

int spool_uplink_open(struct spool_uplink **spool_uplink,
    const struct spool_uplink_options *options, struct err *err);
void spool_uplink_close(struct spool_uplink **spool_uplink);

/* There may be more to send (after a commit). */
void spool_uplink_push(struct spool_uplink *spool_uplink);

/* The key file was read again (client_key_renew). */
void spool_uplink_renew_key(struct spool_uplink *spool_uplink);

/* Send nothing until this is reversed: nothing in the spool may leave the host
 * yet. */
void spool_uplink_hold(struct spool_uplink *spool_uplink, bool hold);

/* If the last answer to this stream was "forbidden": who refused it, and what
 * the key may do, as a name in `to`.  Otherwise empty. */
struct text spool_uplink_forbids(const struct spool_uplink *spool_uplink,
    uint32_t stream, char to[static NAME_BYTES_MAX + 1]);

/* Release acknowledged batches now: the spool needs the room. */
void spool_uplink_tidy(struct spool_uplink *spool_uplink);

/* Is everything acknowledged? */
bool spool_uplink_is_done(const struct spool_uplink *spool_uplink);

/* Then say that this node stops, to the aggregator of one partition after the
 * other, each when the one before has answered.  True: all have, or nobody is
 * connected who could hear it. */
bool spool_uplink_say_bye(struct spool_uplink *spool_uplink);

const struct sender_counters *spool_uplink_counters(
    const struct spool_uplink *spool_uplink);
/* The number of changes to another broker. */
uint64_t spool_uplink_moves(const struct spool_uplink *spool_uplink);

#endif
