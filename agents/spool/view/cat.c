/*
 * view_cat - the records of a spool, one a line, as poolscope-dump prints them.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>

#include "agents/spool/view/commands.h"
#include "proto/decode/record_json.h"
#include "proto/os/log.h"
#include "proto/wire/wire.h"

struct cat {
	struct view *view;
	const struct view_cat_options *options;
	FILE *file;
	struct wire_room room;
	uint64_t errors;
};

static bool
is_wanted(struct cat *cat, const struct spool_frame *frame)
{
	const char *pattern = cat->options->partition;

	if (!spool_is_batch(frame))
		return false;
	if (cat->options->unacknowledged &&
	    frame->seq <= view_acked(cat->view, frame->stream))
		return false;
	return pattern == NULL || text_match(text_of(pattern),
				      view_partition(cat->view, frame->stream));
}

static void
put_batch(struct cat *cat, const struct spool_entry *segment, uint32_t offset,
    const struct spool_frame *frame, struct text body)
{
	const struct wire_header header = { .type = WIRE_BATCH,
		.node = text_of(cat->options->node),
		.session = segment->head.session,
		.seq = frame->seq,
		.records = frame->records,
		.codec = frame->codec,
		.body_bytes = frame->body_bytes };
	struct wire_cursor cursor;
	struct record record;
	struct text plain;
	enum wire_fault fault = wire_body(&header, body, &cat->room, &plain);

	if (fault != WIRE_OK) {
		cat->errors++;
		log_error("segment %" PRIu64 ", offset %" PRIu32
			  ": the records of batch %" PRIu64
			  " cannot be read (%s)",
		    segment->number, offset, frame->seq,
		    wire_fault_name(fault));
		return;
	}
	wire_cursor_init(&cursor, &header, plain);
	while (wire_next(&cursor, &record))
		record_json_line(cat->file,
		    view_partition(cat->view, frame->stream), &record, NULL);
}

static void
on_frame(void *arg, const struct spool_entry *segment, uint32_t offset,
    const struct spool_frame *frame, struct text body)
{
	struct cat *cat = arg;

	if (is_wanted(cat, frame))
		put_batch(cat, segment, offset, frame, body);
}

static void
on_bad(void *arg, const struct spool_entry *segment, uint32_t from, uint32_t to)
{
	struct cat *cat = arg;

	cat->errors++;
	log_error("segment %" PRIu64 ", offset %" PRIu32 ": %" PRIu32
		  " bytes hold no valid frame",
	    segment->number, from, to - from);
}

int
view_cat(struct view *view, const struct view_cat_options *options, FILE *file,
    struct err *err)
{
	struct cat cat = { .view = view, .options = options, .file = file };
	const struct view_visitor visitor = { on_frame, on_bad, &cat };
	int rc = 0;

	for (uint32_t i = 0; i < view_segments(view) && rc == 0; i++) {
		const struct spool_entry *s = view_segment(view, i);

		if (s->state == SPOOL_ENTRY_UNREADABLE) {
			cat.errors++;
			log_error("segment %" PRIu64 " has no valid header",
			    s->number);
		}
		rc = view_walk(view, i, &visitor, err);
	}
	wire_room_clear(&cat.room);
	if (rc == 0 && cat.errors > 0)
		rc = err_set(err,
		    "%" PRIu64 " part%s of the spool cannot be read",
		    cat.errors, cat.errors == 1 ? "" : "s");
	return rc;
}
