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

struct submit_options {
	const char *socket;    /* of the agent */
	const char *drop;      /* directory */
	const char *partition; /* NULL: that of the agent that takes it */
	const char *node;      /* same */
	bool stored;           /* wait for the aggregator, too */
	bool quiet;            /* do not say that there is no agent */
	int64_t timeout_ns;
};

enum submit_result {
	SUBMIT_DONE,   /* on disk (and stored, if that was asked for) */
	SUBMIT_FAILED, /* trying again will not help */
	SUBMIT_LATER,  /* trying again later may */
};

/* What a caller was given: -1 and a sentence about a name that is none, or no
 * time at all. */
int submit_check(const struct submit_options *options, struct err *err);

struct submit; /* opaque */

/* `options` and its texts must live as long as the handover. */
void submit_new(struct submit **submit, const struct submit_options *options);
void submit_free(struct submit **submit);

/* Take a composed event or span; hands over what was gathered when it no longer
 * fits together. */
enum submit_result submit_add(
    struct submit *submit, const struct compose *compose, struct err *err);
/* Hand over what was gathered. */
enum submit_result submit_flush(struct submit *submit, struct err *err);
/* The same, and wait until all is stored if that was asked for. */
enum submit_result submit_finish(struct submit *submit, struct err *err);

/* Events handed over so far, to the agent or the drop directory. */
uint64_t submit_events(const struct submit *submit);

#endif
