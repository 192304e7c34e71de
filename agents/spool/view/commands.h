/*
 * commands - what poolscope-spool prints: a list, records, errors.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SPOOL_VIEW_COMMANDS_H
#define AGENTS_SPOOL_VIEW_COMMANDS_H

#include <stdbool.h>
#include <stdio.h>

#include "agents/spool/view/view.h"
#include "proto/answer/answer.h"

/* Give the content of the directory: segments, streams, and what is missing in
 * them. */
int view_list(
    struct view *view, const char *dir, struct answer *answer, struct err *err);
extern const struct answer_table view_list_tables[];

struct view_cat_options {
	const char *partition; /* a pattern; NULL: all */
	const char *node;      /* the agent's own, for records that name none */
	bool unacknowledged;   /* only batches that are not acked */
};
/* Print every record as a line of JSON.
 * Unreadable parts are logged and make the result -1; everything else is
 * printed. */
int view_cat(struct view *view, const struct view_cat_options *options,
    FILE *file, struct err *err);

/* Check every checksum, every record, and that no number is missing.  Errors
 * are logged with file and offset and make the result -1. */
int view_verify(struct view *view, struct err *err);

#endif
