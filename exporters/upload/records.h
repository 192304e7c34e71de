/*
 * upload_records - upload records from a source to a target, also as they
 * arrive.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_RECORDS_H
#define EXPORTERS_UPLOAD_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/samples/columns.h"
#include "exporters/source/source.h"
#include "exporters/upload/upload.h"
#include "proto/base/err.h"
#include "proto/base/text.h"
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

/* Upload records as they arrive. */

/* Runs until INT or TERM (returns 0), or a failure. */
int upload_follow(struct upload_records *rows, struct err *err);

/*
 * The file with the position of a follower.
 *
 * A position in the journal is an entry (a batch) and the number of its
 * records that precede the position.  Everything before the cursor is
 * acknowledged by the service.  `until` is set while a request is in flight
 * that ended at the end of the journal: a repeated request ends there again,
 * even if more records have arrived since.
 */

enum { UPLOAD_CURSOR_BYTES_MAX = 512, UPLOAD_SELECTION_BYTES = 33 };

struct upload_cursor {
	/* Digest of the selected records and the target, 32 hexadecimal
	 * digits. */
	char selection[UPLOAD_SELECTION_BYTES];
	uint64_t generation; /* generation of the store of these entries */
	uint64_t entry;
	uint64_t records; /* records of that entry that were sent or skipped */
	uint64_t until;   /* an entry; 0: no request was in flight */
	uint64_t sent;    /* total number of sent records */
	/* The time range, resolved when the follower first started ("-1h" is
	 * relative to that time).  As in a wire_query. */
	int64_t from_ns, to_ns;
};

/* -1: not a cursor of this program. */
int upload_cursor_parse(
    struct upload_cursor *cursor, struct text text, struct err *err);
/* Returns 0 with `*found` false if the file does not exist. */
int upload_cursor_load(struct upload_cursor *cursor, const char *path,
    bool *found, struct err *err);
/* The complete file is on disk when this returns 0. */
int upload_cursor_save(
    const struct upload_cursor *cursor, const char *path, struct err *err);

#endif
