/*
 * upload_follow_cursor - the file with the position of a follower.
 *
 * A position in the journal is an entry (a batch) and the number of its
 * records that precede the position.  Everything before the cursor is
 * acknowledged by the service.  `until` is set while a request is in flight
 * that ended at the end of the journal: a repeated request ends there again,
 * even if more records have arrived since.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_FOLLOW_CURSOR_H
#define EXPORTERS_UPLOAD_FOLLOW_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

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
