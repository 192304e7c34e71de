/*
 * node_states - when each node of a partition was heard, and what that means.
 *
 * All of it is what the source says of each node: when its last record was
 * received, and made, the time of its newest sample, and what its last samples
 * say: how much its agent has not sent, and how far its clock is off.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_NODES_NODE_STATES_H
#define EXPORTERS_NODES_NODE_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/nodes/attention.h"
#include "exporters/nodes/long_phases.h"
#include "exporters/source/source.h"
#include "proto/hash/string_table.h"

/* By the time since a record of it was made: below a minute, 10 minutes, an
 * hour, and longer.  Stopped: its agent has sent a bye, or somebody retired it,
 * and nothing came since; or it was not heard for --retire-after.  Imported:
 * only imports brought records of it, no agent was ever heard. */
enum node_condition {
	NODE_LIVE,
	NODE_LATE,
	NODE_SILENT,
	NODE_GONE,
	NODE_STOPPED,
	NODE_IMPORTED
};
enum { NODE_CONDITIONS = NODE_IMPORTED + 1, NODE_STATES_MAX = 1 << 20 };
extern const char *const node_condition_words[NODE_CONDITIONS];
/* In the order in which nodes are looked at: the greatest first. */
int node_condition_weight(enum node_condition condition);

struct node_state {
	struct text name; /* valid until node_states_clear */
	/* When its newest record was made: by its own clock, and by that of the
	 * aggregator, if it is known how far the node's is off, and not after
	 * it was received.  age_ns is not below 0. */
	int64_t made_ns, heard_ns, age_ns;
	/* The last record that was received: when, and its time by the node's
	 * clock; INT64_MIN: unknown. */
	int64_t received_ns, last_ns;
	int64_t bye_ns;     /* INT64_MIN: no bye came last */
	int64_t retire_ns;  /* not heard for so long it counts as stopped; 0 */
	int64_t stopped_ns; /* since when; INT64_MIN: it has not */
	bool is_imported;
	/* Bytes that are not sent; how far the aggregator's clock is ahead, ns.
	 * NaN: unknown.  When they were sampled. */
	double spool, clock_ns;
	int64_t spool_at_ns, clock_at_ns;
	struct long_phase phase;
	int64_t phase_ns;   /* how long that is open */
	bool is_incomplete; /* it is not ready, and its start is incomplete */
	int64_t lost_ns;    /* when records of it were lost last; INT64_MIN */
	enum node_condition condition;
	unsigned attention; /* bits of enum attention */
};

struct node_states {
	struct string_table names, phases;
	struct node_state *at;
	uint32_t count, room;
	uint32_t conditions[NODE_CONDITIONS]; /* how many nodes are in each */
	uint32_t attention[ATTENTIONS];       /* how many need it, by reason */
	uint32_t attended;                    /* ... by any */
	int64_t heard_ns; /* of the one heard last; INT64_MIN: there is none */
	int64_t read_ns;  /* as of when they were read */
	/* Until then the newest start may still be completed; INT64_MIN. */
	int64_t starting_ns;
	bool has_more; /* phases that may be open for longer than usual later
			*/
	/* Up to when the source had answered completely; INT64_MAX: it had. */
	int64_t complete_ns;
	/* Why incomplete starts or lost records were not read, or "". */
	struct err left_out;
};

/* Read the nodes of the list (empty: all) that were heard from `from_ns` on, in
 * no order, and judge them as of `now_ns`, or of when the answer is complete: a
 * node of which nothing is indexed yet is not silent.  It may be that there are
 * none.  -1 also when there are more than NODE_STATES_MAX.  The clock of the
 * source is CLOCK_RAW meanwhile.  Clear it in any case. */
int node_states_read(struct node_states *states, struct source *source,
    struct text partition, struct text node, int64_t from_ns, int64_t now_ns,
    struct err *err);
void node_states_clear(struct node_states *states);

/* Judge them again, at another time. */
void node_states_judge(struct node_states *states, int64_t now_ns);
/* Although nothing came, must they be read again to be judged at this time? */
bool node_states_are_old(const struct node_states *states, int64_t now_ns);

/* What is wrong with a node, or "", as of when it was judged. */
const char *node_state_wrong(
    char to[static ATTENTION_TEXT_BYTES], const struct node_state *node);

#endif
