/*
 * submit - gives records to the agent, or leaves them where it will look.
 *
 * Records of one partition and node go together in a put of up to 64 KiB: all
 * events, which keep their uuids, or all spans, under the put's.  When
 * no agent answers, the same frame (with the same uuids) goes to the drop
 * directory: should the agent have taken it after all, it is kept once.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SUBMIT_SUBMIT_H
#define AGENTS_SUBMIT_SUBMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/submit/compose.h"
#include "proto/base/err.h"

struct handover_options {
	const char *socket;    /* of the agent */
	const char *drop;      /* directory */
	const char *partition; /* NULL: that of the agent that takes it */
	const char *node;      /* same */
	bool stored;           /* wait for the aggregator, too */
	bool quiet;            /* do not say that there is no agent */
	int64_t timeout_ns;
};

enum handover_result {
	HANDOVER_DONE,   /* on disk (and stored, if that was asked for) */
	HANDOVER_FAILED, /* trying again will not help */
	HANDOVER_LATER,  /* trying again later may */
};

/* What a caller was given: -1 and a sentence about a name that is none, or no
 * time at all. */
int handover_check(const struct handover_options *options, struct err *err);

struct handover; /* opaque */

/* `options` and its texts must live as long as the handover. */
void handover_new(
    struct handover **handover, const struct handover_options *options);
void handover_free(struct handover **handover);

/* Take a composed event or span; hands over what was gathered when it no longer
 * fits together. */
enum handover_result handover_add(
    struct handover *handover, const struct compose *compose, struct err *err);
/* Hand over what was gathered. */
enum handover_result handover_flush(struct handover *handover, struct err *err);
/* The same, and wait until all is stored if that was asked for. */
enum handover_result handover_finish(
    struct handover *handover, struct err *err);

/* Events handed over so far, to the agent or the drop directory. */
uint64_t handover_events(const struct handover *handover);

#endif
