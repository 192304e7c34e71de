/*
 * stragglers_chronic - the nodes that are slow in more starts than chance has
 * it.
 *
 * In each start of the window it is known which nodes had a phase that took too
 * long, or began late, compared with the others of that start (who.h).  If
 * nothing were wrong with a node it would be among them as often as others: in
 * each start with the share of the others that were slow then, or that were
 * slow in all starts, whichever is more (one slow start is added to what was
 * seen, since none seen is no proof of none).  How many starts in which it was
 * slow that makes is Poisson-binomial, and its tail is exact.
 *
 * A node is to be drained if that is less likely than CHRONIC_CHANCE, and than
 * CHRONIC_CHANCE_OF_POOL by the number of nodes: at most one node in 10,000 is,
 * in a month in which nothing is wrong, and one pool in twenty has one at all.
 * It must have been slow in CHRONIC_STARTS_MIN starts.
 *
 * Method: L. H. Y. Chen, J. S. Liu, "Statistical Applications of the
 * Poisson-Binomial and Conditional Bernoulli Distributions" (Statistica Sinica
 * 7, 1997).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STRAGGLERS_CHRONIC_H
#define EXPORTERS_STRAGGLERS_CHRONIC_H

#include "exporters/source/starts.h"
#include "exporters/stragglers/straggler.h"
#include "proto/hash/string_table.h"

enum { CHRONIC_STARTS_MIN = 3 };
#define CHRONIC_CHANCE         5e-5
#define CHRONIC_CHANCE_OF_POOL 0.05

struct chronic_node {
	uint32_t starts, slow; /* that it was in; in which it was slow */
	int64_t lost_ns;       /* in all of them */
	double chance;         /* of that many, if nothing is wrong with it */
	bool is_chronic;
};

struct chronic {
	struct string_table nodes;
	struct chronic_node *at; /* by the number of the node */
	uint32_t room;
	uint32_t starts; /* in which nodes could be compared */
};

/* The chance of `least` or more, of things that each come with their own. */
double chronic_tail(const double *chances, uint32_t count, uint32_t least);

struct chronic_query {
	struct text partition;
	const char *model;
	const struct starts *starts; /* of the window, and what comes before */
	int64_t from_ns, to_ns;      /* the window */
	struct straggler_bounds bounds;
};
/* Clear it in any case. */
int chronic_read(struct chronic *chronic, struct source *source,
    const struct chronic_query *query, struct err *err);
void chronic_clear(struct chronic *chronic);

/* The nodes that were slow in one start: for each of `nodes`, in how many of
 * the starts it was, and whether it was slow in each: `was` has `starts` marks
 * a node.  Sets chances and what is chronic; for tests, too. */
enum chronic_mark { CHRONIC_ABSENT, CHRONIC_WELL, CHRONIC_SLOW };
void chronic_judge(struct chronic_node *nodes, uint32_t count,
    const unsigned char *was, uint32_t starts);

#endif
