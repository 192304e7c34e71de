/*
 * otlp_send - hands the records of a request to the agent.
 *
 * OTLP has no number of a request: a client that got no answer sends the same
 * bytes again.  So the submissions of a request are numbered in a session that
 * is a hash of its bytes, and the agent keeps them once, whoever has started
 * again in between.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_OTLP_SEND_H
#define AGENTS_RECEIVER_OTLP_SEND_H

#include <stdint.h>

#include "agents/receiver/otlp/map.h"
#include "agents/receiver/report.h"
#include "agents/submit/submit.h"
#include "proto/metric/dynamic_group.h"

struct otlp_send {
	struct submit *submit;
	struct receiver_report *report;
	struct compose *compose; /* for groups */

	enum submit_result result; /* the last one */
	struct err err;            /* what the first one was that failed */
	/* Records, or numbers of groups: refused, those of them that are in the
	 * report already, and those that are collected. */
	uint64_t refused, reported, waiting;

	unsigned char request[RECORD_ID_BYTES]; /* hash */
	uint64_t events;                        /* submit_events of before */
};

/* Begin a request of this kind ("traces"). */
void otlp_send_begin(
    struct otlp_send *send, const char *kind, struct text body);

/* What otlp_map calls; `arg` is the struct otlp_send.  They return -1 when the
 * agent takes nothing now (SUBMIT_LATER). */
int otlp_send_record(void *arg, const struct compose *compose);
int otlp_send_group(void *arg, const struct dynamic_group *group);
/* submit_options.on_refused. */
void otlp_send_refuse(
    void *arg, const struct record *definition, const struct err *err);

/* The rest; afterwards, all but `refused` is on disk. */
int otlp_send_end(struct otlp_send *send);

#endif
