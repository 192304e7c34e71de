/*
 * upload_follow_cursor - how far a follower has sent the journal, in a file.
 *
 * A record of the journal is reported by its entry (a batch) and how many of
 * that entry were read before it.  What the service acknowledged lies before
 * the cursor.  `until` ends a request that was on its way when the end of the
 * journal was the reason to send it: the same records are sent in it again,
 * though more have come since.
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
	/* What is sent and where to, as 32 hexadecimal digits. */
	char selection[UPLOAD_SELECTION_BYTES];
	uint64_t generation; /* of the store whose entries these are */
	uint64_t entry;
	uint64_t records; /* of that entry, that were sent or passed over */
	uint64_t until;   /* an entry; 0: nothing was on its way */
	uint64_t sent;    /* records, since the beginning */
	/* The times that were asked for, when the follower first began: what
	 * "-1h" meant then.  As in a wire_query. */
	int64_t from_ns, to_ns;
};

/* -1: it is not a cursor of this program. */
int upload_cursor_parse(
    struct upload_cursor *cursor, struct text text, struct err *err);
/* `*found` false and 0: there is no file yet. */
int upload_cursor_load(struct upload_cursor *cursor, const char *path,
    bool *found, struct err *err);
/* On disk, whole, when it returns 0. */
int upload_cursor_save(
    const struct upload_cursor *cursor, const char *path, struct err *err);

#endif
