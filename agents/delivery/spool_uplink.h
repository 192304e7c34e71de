/*
 * spool_uplink - carries the batches of the spool to the aggregator.
 *
 * Joins the three that know nothing of each other: the spool (disk), ship (the
 * protocol) and a port (the line to one of the brokers), on the loop's timers.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DELIVERY_SPOOL_UPLINK_H
#define AGENTS_DELIVERY_SPOOL_UPLINK_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/delivery/broker_link.h"
#include "agents/delivery/past_sessions.h"
#include "agents/delivery/sender.h"
#include "agents/spool/spool.h"
#include "proto/base/err.h"
#include "proto/net/loop/loop.h"

struct spool_uplink_options {
	struct loop *loop;
	struct spool *spool;
	struct broker_link *broker_link; /* chosen */
	struct text node;
	int64_t restore_wait_ns; /* past_sessions.h */

	/* What the owner hears; any may be called within spool_uplink_push. */
	void *arg;
	/* Settle what was put into the spool and not committed: a commit of
	 * the spool's own, or other numbers, are ahead. */
	void (*commit)(void *arg);
	void (*on_acked)(void *arg, uint32_t stream, uint64_t upto);
	/* Set aside for good; a gap takes its place. */
	void (*on_refused)(
	    void *arg, uint32_t stream, uint64_t seq, enum wire_reason reason);
	/* The spool has a new session: its numbers are other ones now. */
	void (*on_renumbered)(void *arg);
	/* An answer is a clock probe; true: another one is welcome. */
	bool (*on_probed)(void *arg, const struct clock_offset_probe *probe);
};

struct spool_uplink; /* opaque */

int spool_uplink_open(struct spool_uplink **spool_uplink,
    const struct spool_uplink_options *options, struct err *err);
void spool_uplink_close(struct spool_uplink **spool_uplink);

/* There may be more to send (after a commit). */
void spool_uplink_push(struct spool_uplink *spool_uplink);

/* The key's file was read again (client_key_renew). */
void spool_uplink_show_key(struct spool_uplink *spool_uplink);

/* Send nothing until reported otherwise: what is in the spool must not be seen
 * outside yet. */
void spool_uplink_hold(struct spool_uplink *spool_uplink, bool hold);

/* Give up what is acknowledged, now: room is short. */
void spool_uplink_tidy(struct spool_uplink *spool_uplink);

/* Is everything acknowledged? */
bool spool_uplink_is_done(const struct spool_uplink *spool_uplink);

const struct sender_counters *spool_uplink_counters(
    const struct spool_uplink *spool_uplink);
/* How often another broker was taken. */
uint64_t spool_uplink_moves(const struct spool_uplink *spool_uplink);

#endif
