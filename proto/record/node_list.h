/*
 * node_list - lists of nodes, as people and Slurm write them.
 *
 *	cn1,cn7,login*      names and patterns (* and ?)
 *	cn[001-031]         cn001 to cn031: as many digits as the first number
 *	cn[1-3,7]-ib[0-1]   each with each: eight names
 *
 * A backslash takes the meaning of the next character away.  Blanks around a
 * comma do not count.  A list is matched as it is written, so that it is as
 * short in a query as on the command line.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_RECORD_NODE_LIST_H
#define PROTO_RECORD_NODE_LIST_H

#include "proto/base/err.h"
#include "proto/base/text.h"

enum {
	NODE_LIST_BYTES_MAX = 8192,
	NODE_LIST_NAMES_MAX = 65536, /* that the items of a list stand for */
};

/* Is it a list?  The empty list selects all nodes. */
int node_list_check(struct text list, struct err *err);
/* Does a list that was checked select the node? */
bool node_list_match(struct text list, struct text node);

/* Take an item from the front of a list that was checked; false at the end. */
bool node_list_next(struct text *rest, struct text *item);
/* How many names an item stands for; 0: it is a pattern. */
uint32_t node_list_count(struct text item);
/* One of them, counted from 0; returns its length, at most NAME_BYTES_MAX. */
uint32_t node_list_name(
    struct text item, uint32_t index, char to[static NAME_BYTES_MAX]);
/* Is the list a single name?  Then `to` gets it. */
bool node_list_is_name(
    struct text list, char to[static NAME_BYTES_MAX], struct text *name);

/* Write a name so that the list selects it and nothing else; with `pattern`, *
 * and ? keep their meaning.  `to` needs twice the bytes of the name. */
struct text node_list_quote(char *to, struct text name, bool pattern);

#endif
