/*
 * submit - submits records to the agent, or to the fallback queue.
 *
 * Records of one partition and node are collected in a submission of up to 64
 * KiB: all events, which have their own uuids, or all spans, under the uuid of
 * the submission.  When no agent answers, the same frame (with the same uuids)
 * goes to the fallback queue: if the agent has taken it after all, it is still
 * stored once.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SUBMIT_SUBMIT_H
#define AGENTS_SUBMIT_SUBMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/submit/compose.h"
#include "proto/base/err.h"
#include "proto/config/instance.h"

enum { SUBMIT_FREE_BYTES = 64 << 20 }; /* the default */

struct submit_options {
	const char *socket; /* of the agent */
	/* Directory; NULL: without an agent the result is SUBMIT_LATER. */
	const char *fallback;
	uint64_t free_bytes;   /* to leave free in its file system */
	const char *partition; /* NULL: that of the agent that reads it */
	char name[INSTANCE_PATH_BYTES]; /* of it, once it is checked */
	const char *node;               /* same */
	bool stored;                    /* wait for the aggregator, too */
	bool quiet;                     /* do not report a missing agent */
	int64_t timeout_ns;
	/* All records are metric groups, each a definition and its sample; it
	 * is called for each that the agent refuses, and the others are
	 * published.  NULL: one record that is refused costs all that travel
	 * with it. */
	void (*on_refused)(
	    void *arg, const struct record *definition, const struct err *err);
	void *arg;
};

enum submit_result {
	SUBMIT_DONE,   /* on disk (and stored, if requested) */
	SUBMIT_FAILED, /* a retry will not help */
	SUBMIT_LATER,  /* a later retry may help */
	/* On disk, but the agent's key does not permit it: it is sent when the
	 * key does. */
	SUBMIT_FORBIDDEN,
};

/* Check the options: -1 and a message about an invalid name or a zero time. */
int submit_check(struct submit_options *options, struct err *err);

struct submit; /* opaque */

/* `options` and its texts must outlive the object. */
void submit_new(struct submit **submit, const struct submit_options *options);
void submit_free(struct submit **submit);

/* From now on the submissions are those with the numbers 1, 2 ... of this
 * session: when the same records are added again in the same order, also by
 * another process, the agent keeps them once.  Nothing may be collected. */
void submit_identify(struct submit *submit, const struct session_id *session);

/* Add a composed event or span; submits the collected records when it does not
 * fit with them. */
enum submit_result submit_add(
    struct submit *submit, const struct compose *compose, struct err *err);
/* Submit the collected records if this number of bytes does not fit with them.
 */
enum submit_result submit_reserve(
    struct submit *submit, size_t bytes, struct err *err);
/* Submit the collected records. */
enum submit_result submit_flush(struct submit *submit, struct err *err);
/* The same, and wait until everything is stored if requested. */
enum submit_result submit_finish(struct submit *submit, struct err *err);

/* Events submitted so far, to the agent or the fallback queue. */
uint64_t submit_events(const struct submit *submit);

#endif
