/*
 * definition - what the values of the samples of a metric group are, and how
 * that may change.
 *
 * A definition lists columns: name, unit, gauge or counter.  It may only grow
 * at its end.  So the values of a sample always are those of the first columns,
 * and a sample with fewer values lacks the last ones.  The rules are in
 * proto/wire.md, "Metric groups".
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_METRIC_DEFINITION_H
#define PROTO_METRIC_DEFINITION_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/record/record.h"

/* Lists of words: one name, one unit, one type for each column.  Without names
 * nothing is defined. */
struct definition {
	struct text names, units, types;
};

/* Has the record a list of the columns of a metric group, whose name is its
 * own?  The lists are views; a missing one is empty. */
bool definition_of(const struct record *record, struct definition *definition);

/* Who sent a definition?  The columns of built-in metric groups are an agent's
 * to extend. */
enum definition_sender { DEFINITION_BY_AGENT, DEFINITION_BY_USER };
/* Of a record that an agent has accepted. */
enum definition_sender definition_sender_of(const struct record *record);

enum definition_change {
	DEFINITION_KEPT,    /* `held` or a beginning of it: it stays */
	DEFINITION_GROWN,   /* `fresh` replaces `held` */
	DEFINITION_REFUSED, /* `err` says which column differs, and how */
};

/* Compare the definition that is known of a metric group (without names: none
 * is) with one that was sent.  The sentence has at most NAME_BYTES_MAX bytes of
 * UTF-8 without control characters. */
enum definition_change definition_compare(struct text group,
    const struct definition *held, const struct definition *fresh,
    enum definition_sender sender, struct err *err);

#endif
