/*
 * server_source - what the query server answers from, and what it counts.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_SERVER_SOURCE_H
#define AGGREGATOR_QUERY_SERVER_SOURCE_H

#include <stdint.h>

#include "aggregator/query/reader.h"
#include "proto/wire/wire.h"

struct query_server_status {
	uint64_t selects, stats, statuses, follows;
	uint64_t pages_bytes; /* of frames sent */
	uint64_t refused;     /* questions that could not be decoded */
	uint64_t failed;      /* questions that failed in the store */
	/* Answers that could not be delivered. */
	uint64_t unsent;
	/* Questions that the reader is not authorized to ask. */
	uint64_t forbidden;
	uint64_t unkeyed; /* questions without a key, on a listener that
			     requires keys */
	uint64_t handshakes_failed;
	uint64_t busy;     /* questions for which there was no room */
	uint64_t fetching; /* repeated ones, whose answer is being made */
};

enum query_server_ready {
	QUERY_SERVER_READY,
	QUERY_SERVER_SOON,  /* indexing has not reached it yet */
	QUERY_SERVER_STUCK, /* indexing is paused: waiting is useless */
};

struct query_server_source {
	struct reader *reader; /* each thread opens its own next to it */
	/* As reader_answer, in any thread of the query server; NULL:
	 * reader_answer. */
	int (*answer)(void *arg, struct reader *reader,
	    const struct wire_header *header, const struct wire_query *query,
	    struct wire_writer *w, bool *last, struct err *err);
	/* The journal entry that an answer about the partition must have
	 * (empty: about all), so that it has all that was acknowledged; and
	 * whether it is indexed.  NULL: answers wait for nothing. */
	uint64_t (*needs)(void *arg, struct text partition);
	enum query_server_ready (*is_indexed)(void *arg, uint64_t number);
	/* Append the status of the process after that of the store: a full
	 * context and a record.  Called in any thread of the query server, by
	 * several at a time. */
	void (*status)(void *arg, const struct query_server_status *status,
	    struct wire_writer *w);
	void *arg;
};

#endif
