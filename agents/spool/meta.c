/*
 * spool_meta - the files META (identity of the spool) and ACKED (acknowledged
 * positions).
 *
 * META is exchanged with META.tmp, so both keep their blocks and a full disk
 * cannot prevent a start of the agent.  ACKED is allocated when it is created;
 * its slots are overwritten in turn.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/spool_private.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/hash/crc32c.h"
#include "proto/base/memory.h"
#include "proto/os/file_io.h"

enum {
	FORMAT = 1,
	META_FIXED = 72,
	META_MAX = META_FIXED + SPOOL_STREAMS_MAX * (2 + NAME_BYTES_MAX) + 4,
	SLOT_FIXED = 32,
	SLOT_BYTES = 8192,
	SLOT_MAX = SLOT_FIXED + SPOOL_STREAMS_MAX * 16 + 4,
};

int
spool_add_stream(struct spool *spool, const char *name, uint32_t bytes)
{
	struct spool_stream *stream;

	if (spool->streams_count == SPOOL_STREAMS_MAX)
		return -1;
	stream = memory_zero(1, sizeof(*stream));
	stream->partition = memory_zero(1, bytes + 1);
	memcpy(stream->partition, name, bytes);
	stream->next = stream->committed = 1;
	spool->streams[spool->streams_count++] = stream;
	return 0;
}

void
spool_drop_stream(struct spool *spool)
{
	struct spool_stream *s = spool->streams[--spool->streams_count];

	free(s->partition);
	free(s);
}

static uint32_t
meta_encode(const struct spool *spool, unsigned char *to)
{
	uint32_t n = META_FIXED;

	memcpy(to, "PSMT", 4);
	spool_put32(to + 4, FORMAT);
	memcpy(to + 8, spool->meta.session.bytes, 16);
	memcpy(to + 24, spool->meta.next.bytes, 16);
	memcpy(to + 40, spool->meta.previous.bytes, 16);
	spool_put64(to + 56, spool->meta.start_count);
	spool_put32(to + 68, spool->streams_count);
	for (uint32_t i = 0; i < spool->streams_count; i++) {
		const char *name = spool->streams[i]->partition;
		size_t bytes = strlen(name);

		to[n++] = (unsigned char)bytes;
		to[n++] = (unsigned char)(bytes >> 8);
		memcpy(to + n, name, bytes);
		n += (uint32_t)bytes;
	}
	spool_put32(to + 64, n + 4);
	spool_put32(to + n, crc32c(0, to, n));
	return n + 4;
}

static bool
meta_take_names(struct spool *spool, const unsigned char *at, uint32_t bytes)
{
	uint32_t streams = spool_get32(at + 68), n = META_FIXED;

	if (streams > SPOOL_STREAMS_MAX)
		return false;
	for (uint32_t i = 0; i < streams; i++) {
		uint32_t name;

		if (bytes - n < 2)
			return false;
		name = at[n] | (uint32_t)at[n + 1] << 8;
		n += 2;
		if (name == 0 || name > NAME_BYTES_MAX || name > bytes - n ||
		    memchr(at + n, '\0', name) != NULL)
			return false;
		spool_add_stream(spool, (const char *)at + n, name);
		n += name;
	}
	return n == bytes;
}

/* 1: decoded, 0: invalid, -1: another format. */
static int
meta_decode(struct spool *spool, const unsigned char *at, uint32_t bytes)
{
	uint32_t all;

	if (bytes < META_FIXED + 4 || memcmp(at, "PSMT", 4) != 0)
		return 0;
	all = spool_get32(at + 64);
	if (all < META_FIXED + 4 || all > bytes ||
	    spool_get32(at + all - 4) != crc32c(0, at, all - 4))
		return 0;
	if (spool_get32(at + 4) != FORMAT)
		return -1;
	memcpy(spool->meta.session.bytes, at + 8, 16);
	memcpy(spool->meta.next.bytes, at + 24, 16);
	memcpy(spool->meta.previous.bytes, at + 40, 16);
	spool->meta.start_count = spool_get64(at + 56);
	return meta_take_names(spool, at, all - 4);
}

int
spool_meta_load(struct spool *spool, enum spool_found *found, struct err *err)
{
	unsigned char *at = memory_alloc(META_MAX);
	ssize_t bytes = spool_read_file(spool->dir, "META", at, META_MAX);
	int rc = 0;

	if (bytes >= 0)
		rc = meta_decode(spool, at, (uint32_t)bytes);
	*found = rc == 1                        ? SPOOL_FOUND
		 : bytes < 0 && errno == ENOENT ? SPOOL_NONE
						: SPOOL_UNREADABLE;
	if (rc == -1)
		err_set(err,
		    "the spool has format %u, this program writes %d; nothing "
		    "was changed",
		    spool_get32(at + 4), FORMAT);
	free(at);
	return rc == -1 ? -1 : 0;
}

/* Write and sync META.tmp. */
static int
meta_write(struct spool *spool)
{
	unsigned char *at;
	uint32_t bytes;
	int rc = -1, fd;

	fd = spool_open_file(spool->dir, "META.tmp", O_RDWR | O_CREAT);
	if (fd < 0 && !file_io_is_full(errno)) {
		unlinkat(spool->dir, "META.tmp", 0); /* a link, a pipe */
		fd = spool_open_file(
		    spool->dir, "META.tmp", O_RDWR | O_CREAT | O_EXCL);
	}
	if (fd < 0)
		return -1;
	at = memory_alloc(META_MAX);
	bytes = meta_encode(spool, at);
	if (file_io_write_all(fd, at, bytes, 0) == 0 && fsync(fd) == 0)
		rc = 0;
	close(fd);
	free(at);
	return rc;
}

int
spool_meta_save(struct spool *spool, struct err *err)
{
	if (meta_write(spool) != 0)
		return err_set(err, "META.tmp: %s", strerror(errno));
	if (renameat2(spool->dir, "META.tmp", spool->dir, "META",
		RENAME_EXCHANGE) != 0 &&
	    renameat(spool->dir, "META.tmp", spool->dir, "META") != 0)
		return err_set(err, "META: %s", strerror(errno));
	if (fsync(spool->dir) != 0)
		return err_set(err, "the directory: %s", strerror(errno));
	return 0;
}

struct text
spool_partition(const struct spool *spool, uint32_t stream)
{
	assert(stream < spool->streams_count);
	return text_of(spool->streams[stream]->partition);
}

int
spool_stream(struct spool *spool, struct text partition, uint32_t *stream,
    struct err *err)
{
	for (uint32_t i = 0; i < spool->streams_count; i++) {
		if (text_equal(spool_partition(spool, i), partition)) {
			*stream = i;
			return 0;
		}
	}
	assert(text_check_name(partition) == TEXT_OK);
	if (spool_add_stream(spool, partition.at, partition.bytes) != 0)
		return err_set(err, "the spool has %d partitions, the maximum",
		    SPOOL_STREAMS_MAX);
	*stream = spool->streams_count - 1;
	if (spool_meta_save(spool, err) == 0)
		return 0;
	spool_drop_stream(spool);
	return -1;
}

/* The counter of a valid slot, else 0. */
static uint64_t
slot_check(const unsigned char *at)
{
	uint32_t streams = spool_get32(at + 4);
	uint32_t bytes = SLOT_FIXED + streams * 16;

	if (memcmp(at, "PSAK", 4) != 0 || streams > SPOOL_STREAMS_MAX ||
	    spool_get32(at + bytes) != crc32c(0, at, bytes))
		return 0;
	return spool_get64(at + 8);
}

static void
slot_take(struct spool *spool, const unsigned char *at)
{
	uint32_t streams = spool_get32(at + 4);

	for (uint32_t i = 0; i < streams && i < spool->streams_count; i++) {
		struct spool_stream *s = spool->streams[i];
		uint64_t seq = spool_get64(at + SLOT_FIXED + i * 16);

		if (seq >= UINT64_MAX / 2)
			continue;
		s->acked = s->saved = seq;
		s->saved_chain = spool_get64(at + SLOT_FIXED + i * 16 + 8);
	}
}

enum spool_found
spool_acked_load(struct spool *spool)
{
	unsigned char *at = memory_zero(1, 2 * SLOT_BYTES);
	ssize_t n = spool_read_file(spool->dir, "ACKED", at, 2 * SLOT_BYTES);
	enum spool_found found = SPOOL_UNREADABLE;
	const unsigned char *best = NULL;

	spool->acked_counter = 0;
	for (int i = 0; i < 2 && n >= 0; i++) {
		const unsigned char *slot = at + i * SLOT_BYTES;
		uint64_t counter = slot_check(slot);

		if (counter == 0)
			continue;
		found = SPOOL_FOUND;
		if (counter <= spool->acked_counter)
			continue;
		spool->acked_counter = counter;
		best = slot;
	}
	/* A slot of another session: nothing is acknowledged in this one. */
	if (best != NULL &&
	    memcmp(best + 16, spool->meta.session.bytes, 16) == 0)
		slot_take(spool, best);
	free(at);
	spool->acked_stale = 2;
	return found;
}

static uint32_t
slot_encode(struct spool *spool, unsigned char *to)
{
	uint32_t bytes = SLOT_FIXED + spool->streams_count * 16;

	memcpy(to, "PSAK", 4);
	spool_put32(to + 4, spool->streams_count);
	spool_put64(to + 8, spool->acked_counter + 1);
	memcpy(to + 16, spool->meta.session.bytes, 16);
	for (uint32_t i = 0; i < spool->streams_count; i++) {
		struct spool_stream *s = spool->streams[i];
		uint64_t chain = spool_chain(spool, i, s->acked + 1);

		spool_put64(to + SLOT_FIXED + i * 16, s->acked);
		spool_put64(to + SLOT_FIXED + i * 16 + 8, chain);
		s->saved = s->acked;
		s->saved_chain = chain;
	}
	spool_put32(to + bytes, crc32c(0, to, bytes));
	return bytes + 4;
}

static bool
has_blocks(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return false;
	if (st.st_size >= 2 * SLOT_BYTES)
		return true;
	errno = spool_allocate(fd, 2 * SLOT_BYTES);
	return errno == 0;
}

int
spool_acked_save(struct spool *spool, struct err *err)
{
	unsigned char *at = memory_zero(1, SLOT_MAX);
	uint32_t bytes = slot_encode(spool, at);
	uint64_t turn = (spool->acked_counter + 1) % 2;
	int fd = spool_open_file(spool->dir, "ACKED", O_RDWR | O_CREAT);
	int rc = -1;

	if (fd >= 0 && has_blocks(fd) &&
	    file_io_write_all(fd, at, bytes, turn * SLOT_BYTES) == 0 &&
	    fdatasync(fd) == 0)
		rc = 0;
	if (rc != 0)
		err_set(err, "ACKED: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	free(at);
	/* After a failure write the same slot again: the other one is
	 * intact. */
	if (rc == 0)
		spool->acked_counter++;
	if (rc == 0 && spool->acked_stale > 0)
		spool->acked_stale--;
	return rc;
}
