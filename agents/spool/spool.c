/*
 * spool - the records that the agent has accepted and the aggregator has not
 * acknowledged.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/spool_private.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/config/instance.h"
#include "proto/os/clock.h"
#include "proto/os/lockfile.h"
#include "proto/wire/wire.h"

/* ---- opening and closing ---- */

static void
fill_options(struct spool_options *to, const struct spool_options *from)
{
	*to = from != NULL ? *from : (struct spool_options){ 0 };
	if (to->bytes_max == 0)
		to->bytes_max = UINT64_C(256) << 20;
	if (to->segment_bytes == 0)
		to->segment_bytes = UINT64_C(16) << 20;
	if (to->segment_bytes > to->bytes_max / 4)
		to->segment_bytes = to->bytes_max / 4;
	if (to->segment_bytes > SPOOL_SEGMENT_BYTES_MAX / 2)
		to->segment_bytes = SPOOL_SEGMENT_BYTES_MAX / 2;
	if (to->segment_bytes < SPOOL_SEGMENT_BYTES_MIN)
		to->segment_bytes = SPOOL_SEGMENT_BYTES_MIN;
	if (to->retain_ns == 0)
		to->retain_ns = 24 * 3600 * NS_PER_SECOND;
}

void
spool_change(struct spool *spool, const struct spool_options *options)
{
	fill_options(&spool->options, options);
}

struct spool *
spool_new(int dir, const struct spool_options *options)
{
	struct spool *spool = memory_zero(1, sizeof(*spool));

	spool->counters = memory_zero(1, sizeof(*spool->counters));
	fill_options(&spool->options, options);
	spool->dir = dir;
	spool->lock = spool->read_fd = spool->window.fd = -1;
	spool->next_number = 1;
	spool->ends_due = true;
	session_random(&spool->session);
	return spool;
}

void
spool_clear(struct spool *spool)
{
	for (uint32_t i = 0; i < spool->streams_count; i++) {
		if (spool->streams[i] != NULL)
			free(spool->streams[i]->partition);
		free(spool->streams[i]);
	}
	free(spool->streams);
	while (spool->segments_count > 0)
		spool_segment_free(&spool->segments[--spool->segments_count]);
	free(spool->segments);
	spool_gaps_clear(&spool->gaps);
	spool_window_clear(&spool->window);
	if (spool->read_fd >= 0)
		close(spool->read_fd);
	free(spool->writer.at);
	free(spool->counters);
}

void
spool_close(struct spool **spool)
{
	if (*spool == NULL)
		return;
	held_file_drop(&(*spool)->held);
	spool_clear(*spool);
	close((*spool)->lock);
	close((*spool)->dir);
	free(*spool);
	*spool = NULL;
}

static int
open_directory(const char *path, struct err *err)
{
	struct stat st;
	int dir;

	if (instance_make_dir(path, err) != 0)
		return -1;
	dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return err_set(err, "%s: %s", path, strerror(errno));
	if (fstat(dir, &st) == 0 && st.st_uid == geteuid() &&
	    ((st.st_mode & 077) == 0 || fchmod(dir, 0700) == 0))
		return dir;
	close(dir);
	return err_set(err,
	    "%s: another user owns it: run this as that user, or use another "
	    "directory",
	    path);
}

/* A lock file that somebody removes keeps nobody away: lock the directory, too.
 * Network file systems lock none; there the file has to do. */
static int
take_lock(int dir, struct err *err)
{
	int fd = spool_open_file(dir, "LOCK", O_RDWR | O_CREAT);

	if (fd < 0)
		return err_set(err, "LOCK: %s", strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 &&
	    (flock(dir, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK))
		return fd;
	close(fd);
	return err_set(err, "another process has it open");
}

/* The format before this one had a file META. */
static int
refuse_old(const struct spool *spool, struct err *err)
{
	if (faccessat(spool->dir, "META", F_OK, AT_SYMLINK_NOFOLLOW) != 0)
		return 0;
	return err_set(err,
	    "it was written by an earlier version of poolscope, with another "
	    "format: let that version send what is in it, or move the "
	    "directory away");
}

/* What no frame has was acknowledged and deleted, or is lost. */
static void
judge_gaps(struct spool *spool, uint32_t stream)
{
	struct spool_stream *s = spool->streams[stream];
	struct spool_gap lost = { .first = s->acked + 1,
		.last = spool_oldest(spool, stream) - 1,
		.stream = stream,
		.reason = WIRE_GAP_DAMAGED };

	s->peak = s->acked;
	spool_gaps_change(&spool->gaps, stream, s->acked, WIRE_GAP_RESTORED);
	if (lost.first <= lost.last)
		spool_gaps_add(&spool->gaps, &lost);
}

/* Everything that needs the lock. */
static int
start(struct spool *spool, struct err *err)
{
	if (refuse_old(spool, err) != 0 || spool_recover(spool, err) != 0)
		return -1;
	spool_acked_load(spool);
	for (uint32_t i = 0; i < spool->streams_count; i++)
		if (spool->streams[i] != NULL)
			judge_gaps(spool, i);
	for (uint32_t i = 0; i < spool->gaps.count; i++)
		if (spool->gaps.at[i].reason == WIRE_GAP_DAMAGED)
			spool->counters->gaps++;
	spool_drop_streams(spool);
	spool->starts++;
	return spool_acked_save(spool, err);
}

int
spool_open(struct spool **to, const char *path,
    const struct spool_options *options, struct err *err)
{
	int dir = open_directory(path, err);
	struct spool *spool;

	*to = NULL;
	if (dir < 0)
		return -1;
	spool = spool_new(dir, options);
	spool->lock = take_lock(dir, err);
	if (spool->lock >= 0 && start(spool, err) == 0) {
		spool->held = held_file_add(path, NULL, NULL);
		*to = spool;
		return 0;
	}
	spool_close(&spool);
	return err_prefix(err, "%s", path);
}

/* ---- content ---- */

const struct session_id *
spool_session(const struct spool *spool)
{
	return &spool->session;
}

uint64_t
spool_start_count(const struct spool *spool)
{
	return spool->starts;
}

uint64_t
spool_first_unacked(const struct spool *spool, uint32_t stream)
{
	assert(stream < spool->streams_count);
	return spool->streams[stream]->acked + 1;
}

/* How many of the numbers first .. last are neither acknowledged nor moved. */
static uint64_t
count_left(const struct spool_stream *s, uint64_t first, uint64_t last)
{
	uint64_t from = first > s->acked ? first : s->acked + 1, moved = 0;

	if (from > last)
		return 0;
	if (s->moved_from > 0 && from <= s->moved_upto &&
	    last >= s->moved_from) {
		uint64_t low = from > s->moved_from ? from : s->moved_from;
		uint64_t high = last < s->moved_upto ? last : s->moved_upto;

		moved = high - low + 1;
	}
	return last - from + 1 - moved;
}

static void
count_stream(const struct spool *spool, uint32_t stream)
{
	struct spool_counters *c = spool->counters;
	const struct spool_stream *s = spool->streams[stream];
	const struct spool_gap *gap;
	uint64_t at = 1, end = spool_end_of(s);

	c->unacked_batches += count_left(s, 1, end - 1);
	while ((gap = spool_gaps_next(&spool->gaps, stream, at)) != NULL &&
	       gap->first < end) {
		uint64_t last = gap->last < end ? gap->last : end - 1;
		uint64_t left = count_left(s, gap->first, last);

		if (left > 0)
			c->unacked_batches -= left - 1;
		at = gap->last + 1;
	}
	for (uint32_t i = 0; i < spool->segments_count; i++) {
		const struct spool_range *r =
		    spool_segment_range(spool->segments[i], stream);

		if (r != NULL)
			c->unacked_bytes += r->bytes /
					    (r->last - r->first + 1) *
					    count_left(s, r->first, r->last);
	}
}

const struct spool_counters *
spool_counters(const struct spool *spool)
{
	spool->counters->unacked_batches = 0;
	spool->counters->unacked_bytes = 0;
	for (uint32_t i = 0; i < spool->streams_count; i++)
		if (spool->streams[i] != NULL)
			count_stream(spool, i);
	return spool->counters;
}

/* ---- positions ---- */

void
spool_acked(struct spool *spool, uint32_t stream, uint64_t upto)
{
	struct spool_stream *s;

	assert(stream < spool->streams_count);
	s = spool->streams[stream];
	if (upto >= s->committed)
		upto = s->committed - 1;
	if (upto <= s->acked)
		return;
	s->acked = upto;
	if (s->peak < upto)
		s->peak = upto;
	spool->acked_stale = SPOOL_SLOTS;
}

void
spool_rewind(struct spool *spool, uint32_t stream, uint64_t seq)
{
	struct spool_stream *s = spool->streams[stream];

	if (seq == 0)
		seq = 1;
	if (seq > s->acked)
		return;
	s->acked = seq - 1;
	spool->acked_stale = SPOOL_SLOTS;
	for (uint32_t i = 0; i < spool->segments_count; i++)
		spool->segments[i]->acked_ns = 0;
}

int
spool_refuse(struct spool *spool, uint32_t stream, uint64_t seq,
    uint32_t reason, struct err *err)
{
	const struct spool_stream *s = spool->streams[stream];
	struct spool_batch batch;
	struct spool_gap gap = {
		.first = seq, .last = seq, .stream = stream, .reason = reason
	};
	int rc = spool_read(spool, stream, seq, &batch, err);

	assert(reason != 0);
	if (rc == 0 || seq <= s->acked)
		return err_set(err, "batch %" PRIu64 " is not in flight", seq);
	if (rc == 1 && batch.reason != 0)
		return 0; /* already a gap */
	if (rc == 1) {
		struct spool_frame frame = { .type = SPOOL_BATCH,
			.bytes = batch.body.bytes,
			.codec = batch.codec,
			.stream = s->local,
			.seq = seq,
			.last_seq = seq,
			.chain = batch.chain,
			.records = batch.records,
			.body_bytes = batch.body_bytes };

		/* The copy is for inspection; the gap does not depend on it. */
		spool_refused_put(spool, &s->session, &frame, batch.body.at,
		    text_of(s->partition), err);
	}
	spool->counters->gaps++;
	if (spool_gaps_add(&spool->gaps, &gap))
		return 0;
	for (uint32_t i = 0; i < spool->streams_count; i++)
		if (spool->streams[i] != NULL)
			spool_gaps_forget(
			    &spool->gaps, i, spool->streams[i]->acked);
	if (spool_gaps_add(&spool->gaps, &gap))
		return 0;
	return err_set(
	    err, "the spool has %d gaps, the maximum", SPOOL_GAPS_MAX);
}
