/*
 * spool_segments - creates segments ahead, deletes acknowledged ones, and
 * keeps the spool within its bound.
 *
 * A segment is deleted only after ACKED on disk covers all of it.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/spool_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/file_io.h"

struct spool_segment *
spool_segment_new(
    struct spool *spool, const struct spool_head *head, uint32_t size)
{
	struct spool_segment *s = memory_zero(1, sizeof(*s));
	uint64_t number = head->number;
	uint32_t i = spool->segments_count;

	MEMORY_GROW(spool->segments, spool->segments_room, i);
	s->session = head->session;
	s->origin = head->origin;
	s->number = number;
	s->salt = head->salt;
	s->size = size;
	s->end = SPOOL_HEAD_BYTES;
	s->fd = -1;
	for (; i > 0 && spool->segments[i - 1]->number > number; i--)
		spool->segments[i] = spool->segments[i - 1];
	spool->segments[i] = s;
	spool->segments_count++;
	spool->counters->bytes += size;
	if (number >= spool->next_number)
		spool->next_number = number + 1;
	return s;
}

struct spool_segment *
spool_find_segment(const struct spool *spool, uint64_t number)
{
	uint32_t low = 0, high = spool->segments_count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (spool->segments[mid]->number == number)
			return spool->segments[mid];
		if (spool->segments[mid]->number < number)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* Forget a segment; the caller handles the file. */
static void
drop_segment(struct spool *spool, struct spool_segment *segment)
{
	uint32_t i = 0;

	while (spool->segments[i] != segment)
		i++;
	memmove(&spool->segments[i], &spool->segments[i + 1],
	    (spool->segments_count - i - 1) * sizeof(struct spool_segment *));
	spool->segments_count--;
	spool->counters->bytes -= segment->size;
	if (spool->window.number == segment->number)
		spool_window_move(&spool->window, -1, 0);
	if (spool->active == segment)
		spool->active = NULL;
	if (spool->spare == segment)
		spool->spare = NULL;
	spool_segment_free(&segment);
}

/* ---- creating ---- */

static enum spool_result
write_segment(struct spool *spool, const char *name,
    const struct spool_head *head, uint32_t size, int *opened, struct err *err)
{
	unsigned char at[SPOOL_HEAD_BYTES];
	int fd = spool_open_file(spool->dir, name, O_RDWR | O_CREAT | O_EXCL);
	int rc;

	if (fd < 0) {
		err_set(err, "%s: %s", name, file_io_sentence(errno));
		return file_io_is_full(errno) ? SPOOL_FULL : SPOOL_IO;
	}
	*opened = fd;
	rc = spool_allocate(fd, size);
	if (file_io_is_full(rc)) {
		err_set(err, "no room for a segment of %u bytes: %s", size,
		    file_io_sentence(rc));
		return SPOOL_FULL;
	}
	if (rc != 0) {
		err_set(err, "%s: %s", name, strerror(rc));
		return SPOOL_IO;
	}
	spool_put_head(at, head);
	if (file_io_write_all(fd, at, sizeof(at), 0) != 0 || fsync(fd) != 0 ||
	    fsync(spool->dir) != 0) {
		err_set(err, "%s: %s", name, strerror(errno));
		return SPOOL_IO;
	}
	return SPOOL_OK;
}

static bool
disk_has(const struct spool *spool, uint64_t bytes, struct err *err)
{
	struct statvfs fs;

	if (spool->options.free_bytes_min == 0 ||
	    fstatvfs(spool->dir, &fs) != 0)
		return true; /* the allocation will fail instead */
	if ((uint64_t)fs.f_bavail * fs.f_frsize >=
	    bytes + spool->options.free_bytes_min)
		return true;
	err_set(err,
	    "the file system has %" PRIu64 " bytes free: it must keep %" PRIu64
	    " (--free-bytes), and a segment takes %" PRIu64,
	    (uint64_t)fs.f_bavail * fs.f_frsize, spool->options.free_bytes_min,
	    bytes);
	return false;
}

static bool
bound_allows(const struct spool *spool, uint64_t bytes, struct err *err)
{
	if (spool->counters->bytes + bytes <= spool->options.bytes_max)
		return true;
	err_set(err,
	    "the spool is full: %" PRIu64 " of %" PRIu64
	    " bytes, all of it unacknowledged",
	    spool->counters->bytes, spool->options.bytes_max);
	return false;
}

/* ---- deleting ---- */

/* What of forbidden streams does not keep a segment. */
enum yields { NOTHING, ENDS, BATCHES };

static bool
is_acked(const struct spool *spool, const struct spool_segment *segment,
    enum yields yields)
{
	for (uint32_t i = 0; i < segment->ranges_count; i++) {
		const struct spool_range *r = &segment->ranges[i];
		const struct spool_stream *s = spool->streams[r->stream];

		if (!spool_is_done_with(s, r->last) &&
		    !(yields == BATCHES && s->forbidden && s->moved_from == 0))
			return false;
	}
	return true;
}

/* Does it say where a stream ends that is not done? */
static bool
has_end(const struct spool *spool, const struct spool_segment *segment,
    enum yields yields)
{
	for (uint32_t i = 0; i < spool->streams_count; i++) {
		const struct spool_stream *s = spool->streams[i];

		if (s != NULL && s->ended_in == segment->number &&
		    !(yields >= ENDS && s->forbidden) &&
		    !spool_is_done_with(s, spool_end_of(s) - 1))
			return true;
	}
	return false;
}

/* The seal of an older segment is needed while that segment exists, and so are
 * the batches that were moved from it. */
static bool
is_free(const struct spool *spool, uint32_t i, enum yields yields)
{
	const struct spool_segment *segment = spool->segments[i];

	if (segment == spool->active || segment == spool->spare ||
	    !is_acked(spool, segment, yields))
		return false;
	if (segment->cuts != 0 && i > 0 &&
	    spool->segments[i - 1]->number >= segment->cuts)
		return false;
	if (has_end(spool, segment, yields))
		return false;
	/* Its moved batches say where the stream that they come from ends. */
	for (uint32_t j = 0; j < i; j++)
		if (session_equal(
			&spool->segments[j]->session, &segment->origin))
			return false;
	return true;
}

uint64_t
spool_used_bytes(const struct spool *spool)
{
	uint64_t used = spool->counters->bytes;

	if (spool->active != NULL)
		used -= spool->active->size - spool->active->end;
	if (spool->spare != NULL)
		used -= spool->spare->size - spool->spare->end;
	return used + spool->writer.used;
}

static int
delete_segment(struct spool *spool, uint32_t i, struct err *err)
{
	struct spool_segment *segment = spool->segments[i];
	char name[SPOOL_NAME_BYTES];

	/* In both slots: one may be damaged later. */
	while (spool->acked_stale > 0)
		if (spool_acked_save(spool, err) != 0)
			return -1;
	spool_segment_name(name, segment->number);
	if (unlinkat(spool->dir, name, 0) != 0 && errno != ENOENT)
		return err_set(err, "%s: %s", name, strerror(errno));
	drop_segment(spool, segment);
	return 0;
}

static int
after_deletion(struct spool *spool, bool deleted, struct err *err)
{
	if (!deleted)
		return 0;
	spool_drop_streams(spool);
	if (fsync(spool->dir) != 0)
		return err_set(err, "the directory: %s", strerror(errno));
	return 0;
}

/* Delete the oldest unneeded segment; if there is none, one that only what is
 * forbidden needs, one without batches of it first.  0: there is no such one,
 * either. */
static int
delete_one(struct spool *spool, struct err *err)
{
	for (enum yields yields = NOTHING; yields <= BATCHES; yields++)
		for (uint32_t i = 0; i < spool->segments_count; i++) {
			if (!is_free(spool, i, yields) ||
			    (yields == BATCHES &&
				!spool_give_up(spool, spool->segments[i])))
				continue;
			return delete_segment(spool, i, err) == 0 &&
				       after_deletion(spool, true, err) == 0
				   ? 1
				   : -1;
		}
	return 0;
}

int
spool_reclaim(struct spool *spool, uint64_t bytes, struct err *err)
{
	int deleted = 1;

	while (deleted > 0 &&
	       spool->counters->bytes + bytes > spool->options.bytes_max)
		deleted = delete_one(spool, err);
	return deleted < 0 ? -1 : 0;
}

int
spool_tidy(struct spool *spool, int64_t now_ns, struct err *err)
{
	uint64_t retained = 0;
	bool deleted = false;

	if (spool->broken)
		return err_set(err, "the spool's disk failed twice; the spool "
				    "accepts nothing more");
	if (spool->acked_stale == SPOOL_SLOTS &&
	    spool_acked_save(spool, err) != 0)
		return -1;
	/* Retain the newest segments: a restored store most likely needs
	 * those. */
	for (uint32_t i = spool->segments_count; i-- > 0;) {
		struct spool_segment *segment = spool->segments[i];

		if (!is_free(spool, i, NOTHING))
			continue;
		if (segment->acked_ns == 0)
			segment->acked_ns = now_ns != 0 ? now_ns : 1;
		retained += segment->size;
		if (retained <= spool->options.retain_bytes &&
		    now_ns - segment->acked_ns < spool->options.retain_ns)
			continue;
		retained -= segment->size;
		if (delete_segment(spool, i, err) != 0)
			return -1;
		deleted = true;
	}
	return after_deletion(spool, deleted, err);
}

/* ---- the spare ---- */

/* Create the spare's file; only then it is known whether there is room. */
static enum spool_result
make_file(struct spool *spool, uint32_t size, struct err *err)
{
	struct spool_head head = { .session = spool->session,
		.origin = spool->origin,
		.number = spool->next_number };
	char name[SPOOL_NAME_BYTES];
	enum spool_result result;
	int fd = -1;

	if (!bound_allows(spool, size, err) || !disk_has(spool, size, err))
		return SPOOL_FULL;
	hash_random_bytes(&head.salt, sizeof(head.salt));
	spool_segment_name(name, head.number);
	result = write_segment(spool, name, &head, size, &fd, err);
	spool->next_number = head.number + 1;
	if (result != SPOOL_OK) {
		if (fd >= 0) {
			close(fd);
			unlinkat(spool->dir, name, 0);
		}
		return result;
	}
	spool->spare = spool_segment_new(spool, &head, size);
	spool->spare->fd = fd;
	return SPOOL_OK;
}

void
spool_discard_spare(struct spool *spool)
{
	char name[SPOOL_NAME_BYTES];

	if (spool->spare == NULL)
		return;
	spool_segment_name(name, spool->spare->number);
	unlinkat(spool->dir, name, 0);
	drop_segment(spool, spool->spare);
}

enum spool_result
spool_make_spare(struct spool *spool, uint32_t span, struct err *err)
{
	enum spool_result result;
	uint32_t size;

	size = SPOOL_HEAD_BYTES + SPOOL_PARTS * SPOOL_FRAME_BYTES +
	       spool_ends_bytes(spool) + span + SPOOL_FRAME_BYTES;
	if (size < spool->options.segment_bytes)
		size = (uint32_t)spool->options.segment_bytes;
	size = (size + 4095) / 4096 * 4096;
	if (spool_reclaim(spool, size, err) != 0)
		return SPOOL_IO;
	/* Retain acknowledged segments while the disk has room for them and
	 * for new ones. */
	while ((result = make_file(spool, size, err)) == SPOOL_FULL) {
		int deleted = delete_one(spool, err);

		if (deleted < 0)
			return SPOOL_IO;
		if (deleted == 0)
			break;
	}
	return result;
}
