/*
 * select_options - the options that select records: --kind, --node, --from and
 * --to.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_SELECT_OPTIONS_H
#define EXPORTERS_SOURCE_SELECT_OPTIONS_H

#include "proto/config/opt.h"
#include "proto/os/clock.h"
#include "proto/record/node_list.h"
#include "proto/record/record.h"

/* Parse event,span --kind gap into bits of enum record_kind.  Only kinds in
 * `known` are valid; `otherwise` is returned for an empty list. */
uint32_t select_kinds(
    const struct opt_list *list, uint32_t known, uint32_t otherwise);

/* Given several times, -n is one list (proto/record/node_list.h), which reaches
 * the aggregator as it is: it selects, and sends nothing else. */
struct node_option {
	struct opt_list given;
	/* What was given, as one list; "": all nodes. */
	char list[NODE_LIST_BYTES_MAX + 1];
};

/* A row of a table of options, bound to a struct with a struct node_option. */
#define NODE_OPTION(type, member)                                              \
	{                                                                      \
		"node", 'n', OPT_LIST, OPT_TO(type, member.given), "NODES",    \
		    "select these nodes: a name, a pattern (* and ?), "        \
		    "cn[001-031,40]; several with commas, or -n again"         \
	}

/* Make the list.  -1: the sentence begins with --node. */
int node_option_make(struct node_option *option, struct err *err);
/* The same; exits on wrong usage. */
void node_option_check(struct node_option *option);

/* Two rows of a table of options, bound to two members int64_t that begin as
 * TIME_MIN_NS and TIME_MAX_NS: not given.  `what` begins their help: "show only
 * records". */
#define TIME_OPTIONS(type, from, to, what)                                     \
	{ "from", 0, OPT_TIME, OPT_TO(type, from), "TIME",                     \
		what " from this time on: -1h, yesterday, 04:00, "             \
		     "2026-11-20T10:00:00Z, epoch seconds" },                  \
	{                                                                      \
		"to", 0, OPT_TIME, OPT_TO(type, to), "TIME",                   \
		    what " before this time"                                   \
	}

/* A time that is empty is a mistake: ends the program as opt_usage. */
static inline void
time_options_check(int64_t from_ns, int64_t to_ns)
{
	if (from_ns >= to_ns)
		opt_usage("--from: the time is not before that of --to");
}

#endif
