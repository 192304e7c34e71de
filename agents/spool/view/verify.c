/*
 * view_verify - checks every byte of a spool.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/spool/view/commands.h"
#include "agents/spool/view/summary.h"
#include "proto/hash/crc32c.h"
#include "proto/hash/hash.h"
#include "proto/base/memory.h"
#include "proto/os/log.h"
#include "proto/wire/wire.h"

enum { REPORTS_MAX = 100 };

struct verify {
	struct view *view;
	struct summary summary;
	uint32_t segment; /* the segment being walked */
	struct verify_chain {
		uint64_t seq, chain_after; /* of the last batch; 0: not known */
	} * chains;                        /* of each stream */
	struct wire_room room;
	uint64_t errors, frames;
};

static void __attribute__((format(printf, 2, 3)))
complain(struct verify *verify, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (verify->errors++ < REPORTS_MAX)
		log_error("%s", text);
}

/* ---- one frame ---- */

static void
check_chain(struct verify *verify, const struct spool_entry *segment,
    uint32_t offset, const struct spool_frame *frame, struct text body)
{
	struct verify_chain *chain = &verify->chains[frame->stream];

	if (chain->seq > 0 && frame->seq == chain->seq + 1 &&
	    frame->chain != 0 && frame->chain != chain->chain_after)
		complain(verify,
		    "segment %" PRIu64 ", offset %" PRIu32
		    ": the running hash of batch %" PRIu64
		    " does not continue the one of batch %" PRIu64,
		    segment->number, offset, frame->seq, chain->seq);
	/* The predecessor of a batch without a running hash is not known. */
	chain->seq = frame->chain != 0 || frame->seq == 1 ? frame->seq : 0;
	chain->chain_after = hash_chain(frame->chain,
	    crc32c(0, body.at, body.bytes), body.bytes, frame->records);
}

static void
check_batch(struct verify *verify, const struct spool_entry *segment,
    uint32_t offset, const struct spool_frame *frame, struct text body)
{
	const struct wire_header header = { .type = WIRE_BATCH,
		.records = frame->records,
		.codec = frame->codec,
		.body_bytes = frame->body_bytes };
	struct text plain;
	enum wire_fault fault = wire_body(&header, body, &verify->room, &plain);

	if (fault != WIRE_OK)
		complain(verify,
		    "segment %" PRIu64 ", offset %" PRIu32
		    ": the records of batch %" PRIu64 " cannot be read (%s)",
		    segment->number, offset, frame->seq,
		    wire_fault_name(fault));
	check_chain(verify, segment, offset, frame, body);
}

static void
on_frame(void *arg, const struct spool_entry *segment, uint32_t offset,
    const struct spool_frame *frame, struct text body)
{
	struct verify *verify = arg;

	verify->frames++;
	summary_add(&verify->summary, verify->segment, frame);
	if (spool_is_batch(frame))
		check_batch(verify, segment, offset, frame, body);
}

static void
on_bad(void *arg, const struct spool_entry *segment, uint32_t from, uint32_t to)
{
	complain(arg,
	    "segment %" PRIu64 ", offset %" PRIu32 ": %" PRIu32
	    " bytes hold no valid frame",
	    segment->number, from, to - from);
}

/* ---- a segment as a whole ---- */

static void
check_end(struct verify *verify, const struct spool_entry *s)
{
	const struct spool_extent *x = &s->extent;

	if (s->half)
		complain(verify,
		    "segment %" PRIu64
		    ", offset 0: one of the two copies of the header is "
		    "damaged; the agent uses the other one",
		    s->number);
	if (x->damaged && x->sealed)
		complain(verify,
		    "segment %" PRIu64 ", offset %" PRIu32
		    ": the seal does not match its %" PRIu32 " frames (%" PRIu32
		    " are missing)",
		    s->number, x->end - SPOOL_FRAME_BYTES, x->frames, x->lost);
	else if (x->damaged && x->tail > 0)
		complain(verify,
		    "segment %" PRIu64 ", offset %" PRIu32
		    ": the valid frames end here, before the end of the "
		    "segment",
		    s->number, x->end);
	else if (s->state == SPOOL_ENTRY_OPEN && x->dirty > x->end)
		log_info("segment %" PRIu64 ", offset %" PRIu32 ": %" PRIu32
			 " bytes of a commit that is not complete; the agent "
			 "discards them when it starts",
		    s->number, x->end, x->dirty - x->end);
}

static int
check_segment(struct verify *verify, uint32_t i, struct err *err)
{
	const struct view_visitor visitor = { on_frame, on_bad, verify };
	const struct spool_entry *s = view_segment(verify->view, i);

	verify->segment = i;
	if (s->state == SPOOL_ENTRY_FOREIGN) {
		log_warn("segment %" PRIu64
			 " was renamed, or has another format: the agent does "
			 "not send it",
		    s->number);
		return 0;
	}
	if (s->state == SPOOL_ENTRY_UNREADABLE) {
		complain(verify, "segment %" PRIu64 ", offset 0: %s", s->number,
		    s->why != 0 ? strerror(s->why) : "no valid header");
		return 0;
	}
	if (view_walk(verify->view, i, &visitor, err) != 0)
		return -1;
	check_end(verify, s);
	return 0;
}

/* ---- all of it ---- */

static void
check_numbers(struct verify *verify, uint32_t stream)
{
	const struct summary_stream *s = &verify->summary.streams[stream];
	uint64_t acked = view_acked(verify->view, stream), from = 0;
	char partition[4 * NAME_BYTES_MAX];
	struct coverage_interval hole;

	while (summary_next_missing(s, acked, from, &hole)) {
		text_quote(partition, sizeof(partition),
		    view_partition(verify->view, stream));
		complain(verify,
		    "partition %s: batches %" PRIu64 " to %" PRIu64
		    " are missing; the agent reports them as lost",
		    partition, hole.first, hole.last);
		if (hole.last == UINT64_MAX)
			break;
		from = hole.last + 1;
	}
}

static int
check_all(struct verify *verify, struct err *err)
{
	if (!view_has_acked(verify->view))
		log_warn("ACKED is absent or damaged: what is acknowledged is "
			 "not known");
	for (uint32_t i = 0; i < view_segments(verify->view); i++)
		if (check_segment(verify, i, err) != 0)
			return -1;
	for (uint32_t i = 0; i < view_streams(verify->view); i++)
		check_numbers(verify, i);
	if (verify->errors > 0)
		return err_set_code(err, ERR_FOUND, "%" PRIu64 " error%s",
		    verify->errors, verify->errors == 1 ? "" : "s");
	log_info("%" PRIu32 " segments, %" PRIu64 " frames: ok",
	    view_segments(verify->view), verify->frames);
	return 0;
}

int
view_verify(struct view *view, struct err *err)
{
	struct verify verify = { .view = view };
	int rc;

	summary_begin(&verify.summary, view);
	verify.chains =
	    memory_zero(view_streams(view) + 1, sizeof(verify.chains[0]));
	rc = check_all(&verify, err);
	free(verify.chains);
	summary_clear(&verify.summary);
	wire_room_clear(&verify.room);
	return rc;
}
