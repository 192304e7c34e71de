/*
 * generate_pool - generates starts of a pool of machines: the events, samples
 * and jobs that its nodes would have reported.
 *
 * The events are those of the model cascade.  Equal options give equal rows on
 * every machine.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_GENERATE_POOL_H
#define AGENTS_GENERATE_POOL_H

#include "agents/generate/row.h"

enum {
	GENERATE_POOL_NODES_MAX = 100000,
	GENERATE_POOL_STARTS_MAX = 1000,
	GENERATE_POOL_START_S = 900,     /* of a start and its jobs */
	GENERATE_POOL_SPACING_S = 1800,  /* between the begins of two starts */
	GENERATE_POOL_FAULTS_NODES = 20, /* fewer nodes: none hangs or dies */
	GENERATE_POOL_EVENTS = 32,
};

struct generate_pool_event {
	int64_t time_ns;
	const char *source, *name;
	const char *key[2], *value[2]; /* attributes; NULL: none */
};

/* What a node does in a start. */
struct generate_pool_plan {
	struct generate_pool_event event[GENERATE_POOL_EVENTS];
	uint32_t events;
	int64_t begin_ns, prepared_ns, ready_ns, end_ns;
	int64_t work_ns[2][2]; /* begin and end of each job */
	char job[2][16];       /* their ids */
};

struct generate_pool {
	/* Of the options. */
	uint64_t seed, nodes, starts;
	int64_t base_ns;   /* the first start begins */
	int64_t period_ns; /* between two samples */

	/* Of the source. */
	uint64_t start, node; /* the current ones */
	uint32_t step;        /* of the node in the start */
	uint64_t given;
	struct generate_pool_plan plan;
	uint64_t state; /* of the random numbers */
	int64_t sample_ns;
	int64_t ticks[3]; /* of its processors, in 10 ms: idle, user, system */
	int64_t gone_ns;  /* the node falls silent; INT64_MAX: it does not */
	char node_name[16];
	unsigned char body[GENERATE_ROW_VALUES_BYTES]; /* of the row */
	unsigned char digest[IMPORT_DIGEST_BYTES];
};

/* How long all starts take. */
int64_t generate_pool_length_s(const struct generate_pool *pool);
/* Are the numbers in their ranges, and the times between 1900 and 2200?  Then
 * its source can be read. */
int generate_pool_begin(struct generate_pool *pool, struct err *err);
/* Valid while `pool` is. */
struct import_source generate_pool_source(struct generate_pool *pool);

#endif
