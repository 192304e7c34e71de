/*
 * spool_help - a spool in a temporary directory, and batches that say who
 * they are.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_AGENTS_SPOOL_SPOOL_HELP_H
#define TESTS_UNIT_AGENTS_SPOOL_SPOOL_HELP_H

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/spool/frame.h"
#include "agents/spool/spool_private.h"
#include "tests/unit/check.h"

enum { HELP_BODY_MAX = 200 << 10 };

struct help {
	char dir[64];
	struct spool_options options;
	struct spool *spool;
	struct err err;
};

/* Room for segments of 64 KiB; a smaller bound is the test's to set. */
static inline void
help_begin(struct help *h)
{
	*h = (struct help){ .options = { .bytes_max = 8 << 20,
				.segment_bytes = 64 << 10,
				.free_bytes_min = 1 } };
	strcpy(h->dir, "/tmp/spool-test.XXXXXX");
	assert_non_null(mkdtemp(h->dir));
}

static inline void
help_open(struct help *h)
{
	if (spool_open(&h->spool, h->dir, &h->options, &h->err) != 0)
		fail_msg("%s", h->err.text);
}

static inline void
help_reopen(struct help *h)
{
	spool_close(&h->spool);
	help_open(h);
}

static inline void
help_end(struct help *h)
{
	char command[128];

	spool_close(&h->spool);
	snprintf(command, sizeof(command), "rm -rf %s", h->dir);
	assert_int_equal(system(command), 0);
}

static inline uint32_t
help_stream(struct help *h, const char *partition)
{
	uint32_t stream = 0;

	assert_int_equal(
	    spool_stream(h->spool, text_of(partition), &stream, &h->err), 0);
	return stream;
}

/* The stream of a partition in an earlier session; UINT32_MAX: it is gone. */
static inline uint32_t
help_earlier(
    struct help *h, const struct session_id *session, const char *partition)
{
	for (uint32_t i = 0; i < spool_streams(h->spool); i++)
		if (spool_partition(h->spool, i).at != NULL &&
		    session_equal(spool_session_of(h->spool, i), session) &&
		    text_equal(
			spool_partition(h->spool, i), text_of(partition)))
			return i;
	return UINT32_MAX;
}

/* The body of batch `id`: the id again and again. */
static inline struct text
help_body(uint64_t id, uint32_t bytes)
{
	static char body[HELP_BODY_MAX];

	for (uint32_t i = 0; i < bytes; i++)
		body[i] = (char)(id >> 8 * (i % 8));
	return (struct text){ body, bytes };
}

static inline enum spool_result
help_put(struct help *h, uint32_t stream, uint64_t id, uint32_t bytes,
    bool urgent, uint64_t *seq)
{
	struct spool_batch batch = { .records = 3,
		.codec = 1,
		.body_bytes = bytes * 2,
		.body = help_body(id, bytes) };

	return spool_append(h->spool, stream, &batch, urgent, seq, &h->err);
}

static inline void
help_commit(struct help *h)
{
	if (spool_commit(h->spool, &h->err) != SPOOL_OK)
		fail_msg("%s", h->err.text);
}

/* `count` batches, each committed; ids are `base` + the number. */
static inline void
help_fill(
    struct help *h, uint32_t stream, uint64_t base, int count, uint32_t bytes)
{
	for (int i = 0; i < count; i++) {
		uint64_t next = spool_next_seq(h->spool, stream), seq;

		assert_int_equal(
		    help_put(h, stream, base + next, bytes, true, &seq),
		    SPOOL_OK);
		assert_int_equal(seq, next);
		help_commit(h);
	}
}

/* A spool with `count` batches of 9,000 bytes, closed. */
static inline uint32_t
help_filled(struct help *h, int count)
{
	uint32_t s;

	help_begin(h);
	help_open(h);
	s = help_stream(h, "acct$pool");
	help_fill(h, s, 0, count, 9000);
	return s;
}

/* Is batch `seq` the one with `id`? */
static inline void
help_is(struct help *h, uint32_t stream, uint64_t seq, uint64_t id)
{
	struct spool_batch b;

	if (spool_read(h->spool, stream, seq, &b, &h->err) != 1)
		fail_msg("%s", h->err.text);
	assert_int_equal(b.seq, seq);
	assert_int_equal(b.last_seq, seq);
	assert_int_equal(b.reason, 0);
	assert_int_equal(b.records, 3);
	assert_int_equal(b.codec, 1);
	assert_int_equal(b.body_bytes, 2 * b.body.bytes);
	assert_memory_equal(
	    b.body.at, help_body(id, b.body.bytes).at, b.body.bytes);
}

static inline void
help_is_gap(struct help *h, uint32_t stream, uint64_t seq, uint64_t last,
    uint32_t reason)
{
	struct spool_batch b;

	assert_int_equal(spool_read(h->spool, stream, seq, &b, &h->err), 1);
	assert_int_equal(b.seq, seq);
	assert_int_equal(b.last_seq, last);
	assert_int_equal(b.reason, reason);
	assert_int_equal(b.body.bytes, 0);
}

/* ---- files ---- */

static inline int
help_file(struct help *h, const char *name, int flags)
{
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", h->dir, name);
	fd = open(path, flags, 0600);
	assert_true(fd >= 0);
	return fd;
}

static inline int
help_segment(struct help *h, uint64_t number, int flags)
{
	char name[SPOOL_NAME_BYTES];

	return help_file(h, spool_segment_name(name, number), flags);
}

/* Turn over one byte. */
static inline void
help_flip(int fd, off_t offset)
{
	unsigned char byte;

	assert_int_equal(pread(fd, &byte, 1, offset), 1);
	byte ^= 0x40;
	assert_int_equal(pwrite(fd, &byte, 1, offset), 1);
	close(fd);
}

/* Damage both copies of a segment's header. */
static inline void
help_lose_head(struct help *h, uint64_t number)
{
	help_flip(help_segment(h, number, O_RDWR), 33);
	help_flip(help_segment(h, number, O_RDWR), SPOOL_HEAD_COPY + 63);
}

/* Writes fail from this size of a file on; 0: none does. */
static inline void
help_limit_files(uint64_t bytes)
{
	struct rlimit limit = { bytes > 0 ? bytes : RLIM_INFINITY,
		RLIM_INFINITY };

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Names in a folder of the spool that end in .seg. */
static inline int
help_count(struct help *h, const char *folder)
{
	char path[160];
	const struct dirent *e;
	int n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%s/%s", h->dir, folder);
	d = opendir(path);
	while (d != NULL && (e = readdir(d)) != NULL)
		n += strstr(e->d_name, ".seg") != NULL;
	if (d != NULL)
		closedir(d);
	return n;
}

/* Where the frame of batch `seq` lies: its segment, and the offset. */
static inline uint64_t
help_find(struct help *h, uint32_t stream, uint64_t seq, uint32_t *offset)
{
	const struct spool_position *position;
	struct spool_batch b;

	assert_int_equal(spool_read(h->spool, stream, seq, &b, &h->err), 1);
	assert_int_equal(b.reason, 0);
	position =
	    spool_position_find(h->spool->streams[stream]->positions, seq);
	assert_non_null(position);
	*offset = position->offset;
	return position->number;
}

#endif
