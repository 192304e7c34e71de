/*
 * spool_uplink - carries the batches of the spool to the keeper.
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
#include "proto/net/loop.h"

struct courier_options {
	struct loop *loop;
	struct spool *spool;
	struct brokers *brokers; /* chosen */
	struct text node;
	int64_t owed_wait_ns; /* past_sessions.h */

	/* What the owner hears; any may be called within courier_push. */
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
	bool (*on_probed)(void *arg, const struct offset_probe *probe);
};

struct courier; /* opaque */

int courier_open(struct courier **courier,
    const struct courier_options *options, struct err *err);
void courier_close(struct courier **courier);

/* There may be more to send (after a commit). */
void courier_push(struct courier *courier);

/* The key's file was read again (pass_renew). */
void courier_show_key(struct courier *courier);

/* Send nothing until told otherwise: what is in the spool must not be seen
 * outside yet. */
void courier_hold(struct courier *courier, bool hold);

/* Give up what is acknowledged, now: room is short. */
void courier_tidy(struct courier *courier);

/* Is everything acknowledged? */
bool courier_is_done(const struct courier *courier);

const struct ship_counters *courier_counters(const struct courier *courier);
/* How often another broker was taken. */
uint64_t courier_moves(const struct courier *courier);

#endif
