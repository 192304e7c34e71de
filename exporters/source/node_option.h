/*
 * node_option - the option -n: which nodes a program shows.
 *
 * Given several times it is one list (proto/record/node_list.h), which reaches
 * the aggregator as it is: it selects, and sends nothing else.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_NODE_OPTION_H
#define EXPORTERS_SOURCE_NODE_OPTION_H

#include "proto/config/opt.h"
#include "proto/record/node_list.h"

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
		    "cn[001-031,40]; several with commas, or -n again",        \
		    NULL, false                                                \
	}

/* Make the list.  -1: the sentence begins with --node. */
int node_option_make(struct node_option *option, struct err *err);
/* The same; exits on wrong usage. */
void node_option_check(struct node_option *option);

#endif
