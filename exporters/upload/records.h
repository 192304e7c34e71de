/*
 * upload_records - upload records from a source to a target: shared by a
 * single upload and --follow.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_RECORDS_H
#define EXPORTERS_UPLOAD_RECORDS_H

#include "exporters/samples/columns.h"
#include "exporters/source/source.h"
#include "exporters/upload/upload.h"
#include "proto/config/instance.h"
#include "proto/http/message.h"

struct upload_records {
	struct upload_values *upload;
	enum record_kind kind;
	enum target_use use;
	const char *word; /* "samples" */
	const char *partition;
	struct text pattern; /* --name; empty: all */

	struct source *source;
	struct column_groups groups;
	const char *to; /* "scheme:rest" */
	char display[HTTP_DISPLAY_URL_BYTES +
		     16]; /* the target without secrets, for messages */
	const struct target_type *type;
	struct target *target;

	uint64_t added;    /* records since the last flush */
	uint64_t sent;     /* acknowledged records */
	uint64_t left_out; /* refused for good by the service */
	bool incomplete;   /* a target did not get all */
	uint64_t nameless; /* samples of an undefined metric group */
	int64_t shown_ns;
};

/* Bound to a struct upload_records_values. */
extern const struct opt upload_records_options[];

/* The query for pattern and times; the caller adds the kinds. */
struct wire_query upload_records_query(const struct upload_records *rows);

/* Learn the metric groups of the store.  Definitions only grow, so they apply
 * to all samples. */
int upload_records_learn_groups(struct upload_records *rows, struct err *err);

/* Returns 1 if added or not selected, 0 if a flush is needed first, or -1. */
int upload_records_add(
    struct upload_records *rows, const struct record *record, struct err *err);
/* Send the added records, if any. */
int upload_records_flush(
    struct upload_records *rows, const char *name, struct err *err);

#endif
