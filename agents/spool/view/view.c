/*
 * view - reads the directory of a spool without changing it.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/view/view.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/spool/spool_private.h"
#include "proto/base/memory.h"

enum { TRIES = 3 };

struct view {
	struct spool *spool; /* streams and ACKED, as the agent reads them */
	struct spool_entry *segments;
	uint32_t count;
	struct spool_ends ends;
};

const char *
view_state_name(enum spool_entry_state state)
{
	static const char *const names[SPOOL_ENTRY_STATES] = { "open", "sealed",
		"unused", "damaged", "empty", "unreadable", "foreign" };

	return names[state];
}

/* ---- opening ---- */

/* The agent may write the header after it was read, and frames before they are
 * looked for: such a segment has a header when it is read again. */
static int
read_entry(struct view *view, uint64_t number, struct spool_entry *e)
{
	int rc = -1;

	for (int i = 0; i < TRIES; i++) {
		rc = spool_entry_read(view->spool, number, e);
		if ((e->state != SPOOL_ENTRY_UNREADABLE && !e->half) ||
		    e->why != 0)
			break;
	}
	return rc;
}

static int
list_segments(struct view *view, struct err *err)
{
	uint64_t *numbers;
	uint32_t count;

	if (spool_list(view->spool->dir, &numbers, &count) != 0) {
		free(numbers);
		return err_set(err, "the directory: %s", strerror(errno));
	}
	view->segments = memory_zero(count + 1, sizeof(*view->segments));
	for (uint32_t i = 0; i < count; i++) {
		struct spool_entry *s = &view->segments[view->count];

		/* Unless it was acknowledged and deleted since it was
		 * listed. */
		if (read_entry(view, numbers[i], s) == 0 || s->why != ENOENT)
			view->count++;
	}
	free(numbers);
	return 0;
}

/* `last`: no later segment of its session has frames. */
static void
find_extent(struct view *view, struct spool_entry *s, bool last)
{
	struct spool_scan scan;

	/* While the agent appends, a read may see the beginning of a frame
	 * before it is written, and its end afterwards. */
	for (int i = 0; i < TRIES; i++) {
		int fd = spool_entry_open(view->spool, s, O_RDONLY, &scan);

		if (fd < 0) {
			s->why = errno;
			s->state = SPOOL_ENTRY_UNREADABLE;
			return;
		}
		spool_scan_extent(
		    &scan, last && s->limit == 0, s->limit, &s->extent);
		spool_entry_close(view->spool, fd);
		if (!s->extent.damaged || !last)
			break;
	}
	if (s->extent.damaged || s->half)
		s->state = SPOOL_ENTRY_DAMAGED;
	else if (s->extent.sealed || s->limit > 0 || !last)
		s->state = SPOOL_ENTRY_SEALED;
	else
		s->state = s->extent.end > SPOOL_HEAD_BYTES
			       ? SPOOL_ENTRY_OPEN
			       : SPOOL_ENTRY_UNUSED;
}

static void
judge_segments(struct view *view)
{
	spool_entries_take_seals(view->spool, view->segments, view->count);
	for (uint32_t i = view->count; i-- > 0;) {
		struct spool_entry *s = &view->segments[i];

		if (spool_entry_has_frames(s))
			find_extent(view, s,
			    spool_entries_is_last(
				view->segments, view->count, i));
	}
}

/* Names first: a batch may be in a segment whose names are damaged. */
static void
list_streams(struct view *view)
{
	for (int all = 0; all < 2; all++)
		for (uint32_t i = 0; i < view->count; i++)
			if (spool_entry_has_frames(&view->segments[i]))
				spool_entry_take_names(
				    view->spool, &view->segments[i], all);
	spool_entries_take_ends(
	    view->spool, view->segments, view->count, &view->ends);
	spool_acked_load(view->spool);
}

/* Forget the segments that the agent has deleted since they were listed. */
static void
drop_deleted(struct view *view)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < view->count; i++)
		if (view->segments[i].why != ENOENT)
			view->segments[left++] = view->segments[i];
	view->count = left;
}

int
view_open(struct view **to, const char *path, struct err *err)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct view *view;

	*to = NULL;
	if (dir < 0)
		return err_set(err, "%s: %s", path, strerror(errno));
	view = memory_zero(1, sizeof(*view));
	view->spool = spool_new(dir, NULL);
	if (list_segments(view, err) != 0) {
		view_close(&view);
		return err_prefix(err, "%s", path);
	}
	if (view->count == 0 &&
	    faccessat(dir, "ACKED", F_OK, AT_SYMLINK_NOFOLLOW) != 0) {
		view_close(&view);
		return err_set(err,
		    "%s: not a spool: it has no ACKED and no segment", path);
	}
	judge_segments(view);
	drop_deleted(view);
	list_streams(view);
	*to = view;
	return 0;
}

void
view_close(struct view **view)
{
	struct spool *spool;

	if (*view == NULL)
		return;
	spool_ends_clear(&(*view)->ends);
	spool = (*view)->spool;
	spool_clear(spool);
	close(spool->dir);
	free(spool);
	free((*view)->segments);
	free(*view);
	*view = NULL;
}

/* ---- content ---- */

bool
view_has_acked(const struct view *view)
{
	return view->spool->acked_counter > 0;
}

uint64_t
view_start_count(const struct view *view)
{
	return spool_start_count(view->spool);
}

uint32_t
view_streams(const struct view *view)
{
	return spool_streams(view->spool);
}

struct text
view_partition(const struct view *view, uint32_t stream)
{
	return spool_partition(view->spool, stream);
}

const struct session_id *
view_session(const struct view *view, uint32_t stream)
{
	return spool_session_of(view->spool, stream);
}

uint64_t
view_acked(const struct view *view, uint32_t stream)
{
	return spool_first_unacked(view->spool, stream) - 1;
}

uint64_t
view_end(const struct view *view, uint32_t stream)
{
	const struct spool_end *end =
	    spool_ends_find(&view->ends, view_session(view, stream),
		spool_local_number(view->spool, stream));

	return end != NULL ? end->seq : 0;
}

uint32_t
view_segments(const struct view *view)
{
	return view->count;
}

const struct spool_entry *
view_segment(const struct view *view, uint32_t i)
{
	return &view->segments[i];
}

int
view_walk(struct view *view, uint32_t i, const struct view_visitor *visitor,
    struct err *err)
{
	const struct spool_entry *s = &view->segments[i];
	uint32_t offset = SPOOL_HEAD_BYTES, expect = offset;
	const unsigned char *body;
	struct spool_scan scan;
	struct spool_frame f;
	int fd;

	if (!spool_entry_has_frames(s))
		return 0;
	fd = spool_entry_open(view->spool, s, O_RDONLY, &scan);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_set(
		    err, "segment %" PRIu64 ": %s", s->number, strerror(errno));
	while (spool_scan_next(&scan, &offset, &f, &body) &&
	       offset < s->extent.end) {
		if (offset > expect && visitor->bad != NULL)
			visitor->bad(visitor->arg, s, expect, offset);
		expect = offset + spool_span(f.bytes);
		f.stream =
		    spool_find_stream(view->spool, &s->head.session, f.stream);
		/* Of a stream that began since the directory was listed. */
		if (f.type == SPOOL_SEAL || f.stream != UINT32_MAX)
			visitor->frame(visitor->arg, s, offset, &f,
			    (struct text){ (const char *)body, f.bytes });
		offset = expect;
	}
	if (expect < s->extent.end && visitor->bad != NULL)
		visitor->bad(visitor->arg, s, expect, s->extent.end);
	spool_entry_close(view->spool, fd);
	return 0;
}
