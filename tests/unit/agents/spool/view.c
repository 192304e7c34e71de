/*
 * view - a spool as somebody sees it who only looks.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/view/view.h"

#include <string.h>

#include "agents/spool/view/summary.h"
#include "proto/wire/wire.h"
#include "tests/unit/agents/spool/spool_help.h"

static struct view *
look(struct help *h)
{
	struct view *view;

	if (view_open(&view, h->dir, &h->err) != 0)
		fail_msg("%s", h->err.text);
	return view;
}

/* All bytes of all files, and when they were changed. */
static void
print_of(struct help *h, char *to, size_t room)
{
	char command[256];
	FILE *out;
	size_t used;

	snprintf(command, sizeof(command),
	    "cd %s && { find . -type f | sort | xargs sha256sum; "
	    "find . -printf '%%p %%T@ %%m\\n' | sort; }",
	    h->dir);
	out = popen(command, "r");
	assert_non_null(out);
	used = fread(to, 1, room - 1, out);
	to[used] = '\0';
	assert_int_equal(pclose(out), 0);
	assert_true(used > 100);
}

static void
an_open_spool_is_seen_and_left_as_it_is(void **state)
{
	static char before[64 << 10], after[64 << 10];
	struct summary summary = { .segments = NULL };
	const struct spool_entry *first;
	struct help h;
	struct view *view;
	uint32_t s;

	help_begin(&h);
	help_open(&h);
	s = help_stream(&h, "acct$pool");
	help_fill(&h, s, 0, 20, 9000);
	spool_acked(h.spool, s, 3);
	assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
	print_of(&h, before, sizeof(before));
	view = look(&h);
	assert_true(view_has_acked(view));
	assert_true(
	    session_equal(view_session(view, 0), spool_session(h.spool)));
	assert_int_equal(view_start_count(view), 1);
	assert_int_equal(view_streams(view), 1);
	assert_true(text_equal(view_partition(view, 0), text_of("acct$pool")));
	assert_int_equal(view_acked(view, 0), 3);
	assert_true(view_segments(view) >= 3);
	first = view_segment(view, 0);
	assert_int_equal(first->state, SPOOL_ENTRY_SEALED);
	assert_int_equal(first->bytes, 64 << 10);
	for (uint32_t i = 1; i < view_segments(view); i++)
		assert_true(
		    view_segment(view, i)->state == SPOOL_ENTRY_SEALED ||
		    view_segment(view, i)->state == SPOOL_ENTRY_OPEN ||
		    view_segment(view, i)->state == SPOOL_ENTRY_UNUSED);
	assert_int_equal(summary_make(&summary, view, &h.err), 0);
	assert_int_equal(summary.streams[0].first, 1);
	assert_int_equal(summary.streams[0].last, 20);
	assert_int_equal(summary.streams[0].batches, 20);
	assert_int_equal(summary.streams[0].records, 60);
	summary_clear(&summary);
	view_close(&view);
	print_of(&h, after, sizeof(after));
	assert_string_equal(before, after);
	help_fill(&h, s, 0, 1, 9000);
	help_end(&h);
}

/* ---- damage ---- */

struct found {
	uint32_t from[8], to[8], count;
	uint64_t segment, frames;
};

static void
on_frame(void *arg, const struct spool_entry *segment, uint32_t offset,
    const struct spool_frame *frame, struct text body)
{
	struct found *found = arg;

	assert_int_equal(body.bytes, frame->bytes);
	found->frames++;
}

static void
on_bad(void *arg, const struct spool_entry *segment, uint32_t from, uint32_t to)
{
	struct found *found = arg;

	assert_true(found->count < 8);
	found->segment = segment->number;
	found->from[found->count] = from;
	found->to[found->count++] = to;
}

static struct found
walk_all(struct view *view)
{
	struct found found = { .count = 0 };
	const struct view_visitor visitor = { on_frame, on_bad, &found };
	struct err err;

	for (uint32_t i = 0; i < view_segments(view); i++)
		assert_int_equal(view_walk(view, i, &visitor, &err), 0);
	return found;
}

static void
a_flipped_byte_is_found_where_it_is(void **state)
{
	enum { NAME = SPOOL_FRAME_BYTES + 16, SPAN = SPOOL_FRAME_BYTES + 9000 };
	struct session_id session;
	struct coverage_interval hole;
	struct summary summary = { .segments = NULL };
	struct found found;
	struct help h;
	struct view *view;

	help_filled(&h, 20);
	session = *spool_session(h.spool);
	spool_close(&h.spool);
	/* The third batch of the first segment. */
	help_flip(help_segment(&h, 1, O_RDWR),
	    SPOOL_HEAD_BYTES + NAME + 2 * SPAN + 99);
	view = look(&h);
	assert_int_equal(view_segment(view, 0)->state, SPOOL_ENTRY_DAMAGED);
	assert_int_equal(view_segment(view, 0)->extent.lost, 1);
	found = walk_all(view);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.segment, 1);
	assert_int_equal(found.from[0], SPOOL_HEAD_BYTES + NAME + 2 * SPAN);
	assert_int_equal(found.to[0], SPOOL_HEAD_BYTES + NAME + 3 * SPAN);
	assert_int_equal(summary_make(&summary, view, &h.err), 0);
	assert_true(summary_next_missing(&summary.streams[0], 0, 0, &hole));
	assert_true(hole.first == 3 && hole.last == 3);
	/* Acknowledged numbers may be missing. */
	assert_false(summary_next_missing(&summary.streams[0], 3, 0, &hole));
	assert_false(summary_next_missing(&summary.streams[0], 0, 4, &hole));
	summary_clear(&summary);
	view_close(&view);
	/* The agent's own recovery sees it the same way: one gap.  It is found
	 * again each time, not written. */
	help_open(&h);
	help_is_gap(&h, help_earlier(&h, &session, "acct$pool"), 3, 3,
	    WIRE_GAP_DAMAGED);
	view = look(&h);
	assert_int_equal(summary_make(&summary, view, &h.err), 0);
	assert_true(summary_next_missing(&summary.streams[0], 0, 0, &hole));
	assert_true(hole.first == 3 && hole.last == 3);
	summary_clear(&summary);
	view_close(&view);
	help_end(&h);
}

static void
each_session_has_its_streams(void **state)
{
	struct session_id sessions[2];
	struct summary summary = { .segments = NULL };
	struct help h;
	struct view *view;
	uint32_t s = help_filled(&h, 5);

	sessions[0] = *spool_session(h.spool);
	spool_acked(h.spool, s, 2);
	assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
	help_reopen(&h);
	sessions[1] = *spool_session(h.spool);
	help_fill(&h, help_stream(&h, "b$b"), 0, 1, 100);
	assert_int_equal(spool_move(h.spool, 0, &s, &h.err), SPOOL_OK);
	view = look(&h);
	assert_int_equal(view_start_count(view), 2);
	assert_int_equal(view_streams(view), 3);
	assert_int_equal(summary_make(&summary, view, &h.err), 0);
	for (uint32_t i = 0; i < 3; i++)
		assert_true(
		    session_equal(view_session(view, i), &sessions[i > 0]));
	assert_true(text_equal(view_partition(view, 0), text_of("acct$pool")));
	assert_true(text_equal(view_partition(view, 1), text_of("b$b")));
	assert_true(text_equal(view_partition(view, 2), text_of("acct$pool")));
	assert_int_equal(view_acked(view, 0), 2);
	assert_int_equal(summary.streams[0].batches, 5);
	assert_int_equal(summary.streams[2].batches, 3);
	assert_int_equal(summary.streams[2].first, 1);
	assert_int_equal(view_segment(view, 0)->state, SPOOL_ENTRY_OPEN);
	summary_clear(&summary);
	view_close(&view);
	help_end(&h);
}

/* The agent knows more than the segment: it stops at the seal in the next
 * one. */
static void
what_a_failed_commit_left_is_not_shown(void **state)
{
	struct summary summary = { .segments = NULL };
	struct help h;
	struct view *view;
	uint32_t s = help_filled(&h, 2);
	uint64_t seq;

	for (int i = 0; i < 3; i++)
		assert_int_equal(
		    help_put(&h, s, 99, 4000, true, &seq), SPOOL_OK);
	help_limit_files(28 << 10);
	assert_int_equal(spool_commit(h.spool, &h.err), SPOOL_IO);
	help_limit_files(0);
	view = look(&h);
	assert_int_equal(summary_make(&summary, view, &h.err), 0);
	assert_true(summary.streams[0].batches > 2);
	summary_clear(&summary);
	view_close(&view);
	help_fill(&h, help_stream(&h, "acct$pool"), 0, 1, 100);
	view = look(&h);
	assert_int_equal(summary_make(&summary, view, &h.err), 0);
	assert_int_equal(view_segment(view, 0)->state, SPOOL_ENTRY_SEALED);
	assert_int_equal(summary.streams[0].batches, 2);
	summary_clear(&summary);
	view_close(&view);
	help_end(&h);
}

static void
any_flipped_byte_of_a_frame_or_header_is_found(void **state)
{
	struct help h;

	for (int offset = 0; offset < SPOOL_HEAD_BYTES + SPOOL_FRAME_BYTES;
	     offset += offset == 63 ? SPOOL_HEAD_COPY - 63 : 3) {
		struct found found;
		struct view *view;

		help_filled(&h, 10);
		spool_close(&h.spool);
		help_flip(help_segment(&h, 1, O_RDWR), offset);
		view = look(&h);
		found = walk_all(view);
		if (offset < SPOOL_HEAD_BYTES)
			assert_true(view_segment(view, 0)->half &&
				    view_segment(view, 0)->state ==
					SPOOL_ENTRY_DAMAGED);
		else
			assert_true(found.count == 1 &&
				    found.from[0] == SPOOL_HEAD_BYTES);
		view_close(&view);
		help_end(&h);
	}
}

static void
a_directory_of_segments_needs_nothing_else(void **state)
{
	struct help h;
	char path[160];
	struct view *view;

	help_filled(&h, 10);
	spool_close(&h.spool);
	snprintf(path, sizeof(path), "%s/ACKED", h.dir);
	assert_int_equal(unlink(path), 0);
	/* A lost name of the only segment that has it. */
	snprintf(path, sizeof(path), "rm %s/*2.seg", h.dir);
	assert_int_equal(system(path), 0);
	view = look(&h);
	assert_false(view_has_acked(view));
	assert_int_equal(view_streams(view), 1);
	assert_true(text_equal(view_partition(view, 0), text_of("acct$pool")));
	view_close(&view);
	help_flip(help_segment(&h, 1, O_RDWR), SPOOL_HEAD_BYTES + 60);
	view = look(&h);
	assert_int_equal(view_streams(view), 1);
	assert_true(text_equal(view_partition(view, 0), text_of("#0")));
	assert_int_equal(walk_all(view).frames >= 7, 1);
	view_close(&view);
	snprintf(path, sizeof(path), "rm %s/*.seg", h.dir);
	assert_int_equal(system(path), 0);
	assert_int_equal(view_open(&view, h.dir, &h.err), -1);
	assert_non_null(strstr(h.err.text, "not a spool"));
	help_end(&h);
}

/* The agent allocates the file, then writes the header, then frames. */
static void
a_segment_that_is_being_created_is_no_damage(void **state)
{
	struct help h;
	char name[SPOOL_NAME_BYTES];
	uint64_t created = 1000;
	struct found found;
	struct view *view;
	int fd;

	help_filled(&h, 10);
	fd = help_file(&h, spool_segment_name(name, created), O_RDWR | O_CREAT);
	for (int size = 0; size <= 65536; size += 32768) {
		assert_int_equal(ftruncate(fd, size), 0);
		view = look(&h);
		assert_int_equal(
		    view_segment(view, view_segments(view) - 1)->state,
		    SPOOL_ENTRY_EMPTY);
		found = walk_all(view);
		assert_int_equal(found.count, 0);
		view_close(&view);
	}
	/* Frames without a header are damage. */
	assert_int_equal(pwrite(fd, "PSFR", 4, 40000), 4);
	view = look(&h);
	assert_int_equal(view_segment(view, view_segments(view) - 1)->state,
	    SPOOL_ENTRY_UNREADABLE);
	view_close(&view);
	close(fd);
	help_end(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_open_spool_is_seen_and_left_as_it_is),
		cmocka_unit_test(a_flipped_byte_is_found_where_it_is),
		cmocka_unit_test(
		    any_flipped_byte_of_a_frame_or_header_is_found),
		cmocka_unit_test(each_session_has_its_streams),
		cmocka_unit_test(what_a_failed_commit_left_is_not_shown),
		cmocka_unit_test(a_segment_that_is_being_created_is_no_damage),
		cmocka_unit_test(a_directory_of_segments_needs_nothing_else),
	};

	return cmocka_run_group_tests_name("view", tests, NULL, NULL);
}
