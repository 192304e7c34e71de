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
	struct view_segment *segments;
	uint32_t count;
	struct spool_ends ends;
};

const char *
view_state_name(enum view_state state)
{
	static const char *const names[VIEW_STATES] = { "open", "sealed",
		"unused", "empty", "damaged", "unreadable", "foreign" };

	return names[state];
}

/* ---- opening ---- */

static int
open_file(const struct view *view, uint64_t number)
{
	char name[SPOOL_NAME_BYTES];

	return spool_open_file(
	    view->spool->dir, spool_segment_name(name, number), O_RDONLY);
}

/* The state is preliminary. */
static void
read_head(struct view_segment *s, int fd)
{
	unsigned char at[SPOOL_HEAD_BYTES];
	struct stat st;

	s->state = VIEW_UNREADABLE;
	s->half = false;
	if (fstat(fd, &st) != 0) {
		s->why = errno;
		return;
	}
	s->bytes = (uint64_t)st.st_size;
	if (s->bytes > SPOOL_SEGMENT_BYTES_MAX)
		return;
	if (spool_read_head(fd, (uint32_t)s->bytes, at) != 0)
		s->why = errno;
	else if (s->bytes < sizeof(at))
		s->state = VIEW_EMPTY;
	else if (spool_get_head(at, &s->head))
		s->state =
		    s->head.number == s->number ? VIEW_SEALED : VIEW_FOREIGN;
	else if (spool_head_format(at) != 0)
		s->state = VIEW_FOREIGN;
	else if (spool_file_is_unused(fd, (uint32_t)s->bytes))
		s->state = VIEW_EMPTY;
	s->half = s->state == VIEW_SEALED && !spool_head_is_whole(at);
}

/* The agent may write the header after it was read, and frames before they are
 * looked for: such a segment has a header when it is read again. */
static void
take_head(struct view_segment *s, int fd)
{
	for (int i = 0; i < TRIES; i++) {
		read_head(s, fd);
		if ((s->state != VIEW_UNREADABLE && !s->half) || s->why != 0)
			break;
	}
}

static bool
has_frames(const struct view_segment *s)
{
	return s->state != VIEW_UNREADABLE && s->state != VIEW_FOREIGN &&
	       s->state != VIEW_EMPTY;
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
		struct view_segment *s = &view->segments[view->count];
		int fd = open_file(view, numbers[i]);

		/* Acknowledged and deleted since it was listed. */
		if (fd < 0 && errno == ENOENT)
			continue;
		*s = (struct view_segment){ .number = numbers[i],
			.state = VIEW_UNREADABLE };
		view->count++;
		if (fd < 0) {
			s->why = errno;
			continue;
		}
		take_head(s, fd);
		close(fd);
	}
	free(numbers);
	return 0;
}

static int
begin_scan(
    struct view *view, const struct view_segment *s, struct spool_scan *scan)
{
	int fd = open_file(view, s->number);

	if (fd >= 0)
		spool_scan_init(scan, &view->spool->window, fd, &s->head,
		    (uint32_t)s->bytes);
	return fd;
}

static void
end_scan(struct view *view, int fd)
{
	spool_window_move(&view->spool->window, -1, 0);
	close(fd);
}

/* Seals at the start of a segment end older ones. */
static void
take_seals(struct view *view, uint32_t from)
{
	const struct view_segment *s = &view->segments[from];
	uint32_t offset = SPOOL_HEAD_BYTES, expect = offset;
	struct spool_scan scan;
	struct spool_frame f;
	int fd = begin_scan(view, s, &scan);

	if (fd < 0)
		return;
	while (spool_scan_next(&scan, &offset, &f, NULL) && offset == expect &&
	       f.type == SPOOL_SEAL && f.seq < s->number) {
		for (uint32_t i = 0; i < from; i++)
			if (view->segments[i].number == f.seq &&
			    f.last_seq >= SPOOL_HEAD_BYTES &&
			    f.last_seq <= view->segments[i].bytes)
				view->segments[i].limit = (uint32_t)f.last_seq;
		expect = offset += SPOOL_FRAME_BYTES;
	}
	end_scan(view, fd);
}

/* `last`: no later segment of its session has frames. */
static void
find_extent(struct view *view, struct view_segment *s, bool last)
{
	struct spool_scan scan;

	/* While the agent appends, a read may see the beginning of a frame
	 * before it is written, and its end afterwards. */
	for (int i = 0; i < TRIES; i++) {
		int fd = begin_scan(view, s, &scan);

		if (fd < 0) {
			s->why = errno;
			s->state = VIEW_UNREADABLE;
			return;
		}
		spool_scan_extent(
		    &scan, last && s->limit == 0, s->limit, &s->extent);
		end_scan(view, fd);
		if (!s->extent.damaged || !last)
			break;
	}
	if (s->extent.damaged || s->half)
		s->state = VIEW_DAMAGED;
	else if (s->extent.sealed || s->limit > 0 || !last)
		s->state = VIEW_SEALED;
	else
		s->state =
		    s->extent.end > SPOOL_HEAD_BYTES ? VIEW_OPEN : VIEW_UNUSED;
}

/* Does a later segment of the same session have frames? */
static bool
is_last_of_session(const struct view *view, uint32_t i)
{
	for (uint32_t j = i + 1; j < view->count; j++) {
		const struct view_segment *s = &view->segments[j];

		if (has_frames(s) && s->state != VIEW_UNUSED &&
		    session_equal(
			&s->head.session, &view->segments[i].head.session))
			return false;
	}
	return true;
}

static void
judge_segments(struct view *view)
{
	for (uint32_t i = 0; i < view->count; i++)
		if (has_frames(&view->segments[i]))
			take_seals(view, i);
	for (uint32_t i = view->count; i-- > 0;) {
		struct view_segment *s = &view->segments[i];

		if (has_frames(s))
			find_extent(view, s, is_last_of_session(view, i));
	}
}

/* Of a batch whose stream no segment names. */
static void
name_stream(struct view *view, const struct view_segment *s,
    const struct spool_frame *f)
{
	char name[16];

	snprintf(name, sizeof(name), "#%" PRIu32, f->stream);
	spool_add_stream(
	    view->spool, &s->head.session, f->stream, text_of(name));
}

static void
take_names(struct view *view, const struct view_segment *s, bool all)
{
	uint32_t offset = SPOOL_HEAD_BYTES;
	const unsigned char *body;
	struct spool_scan scan;
	struct spool_frame f;
	int fd = begin_scan(view, s, &scan);

	if (fd < 0)
		return;
	while (spool_scan_next(&scan, &offset, &f, &body)) {
		struct text name = { (const char *)body, f.bytes };

		if (f.type == SPOOL_STREAM && text_check_name(name) == TEXT_OK)
			spool_add_stream(
			    view->spool, &s->head.session, f.stream, name);
		else if (all && spool_is_batch(&f))
			name_stream(view, s, &f);
		offset += spool_span(f.bytes);
	}
	end_scan(view, fd);
}

/* Names first: a batch may be in a segment whose names are damaged. */
static void
list_streams(struct view *view)
{
	for (int all = 0; all < 2; all++)
		for (uint32_t i = 0; i < view->count; i++)
			if (has_frames(&view->segments[i]))
				take_names(view, &view->segments[i], all);
	for (uint32_t i = 0; i < view->count; i++) {
		struct spool_scan scan;
		int fd = -1;

		if (has_frames(&view->segments[i]))
			fd = begin_scan(view, &view->segments[i], &scan);
		if (fd < 0)
			continue;
		spool_ends_read(&view->ends, &scan);
		end_scan(view, fd);
	}
	spool_ends_name(&view->ends, view->spool);
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

const struct view_segment *
view_segment(const struct view *view, uint32_t i)
{
	return &view->segments[i];
}

int
view_walk(struct view *view, uint32_t i, const struct view_visitor *visitor,
    struct err *err)
{
	const struct view_segment *s = &view->segments[i];
	uint32_t offset = SPOOL_HEAD_BYTES, expect = offset;
	const unsigned char *body;
	struct spool_scan scan;
	struct spool_frame f;
	int fd;

	if (!has_frames(s))
		return 0;
	fd = begin_scan(view, s, &scan);
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
	end_scan(view, fd);
	return 0;
}
