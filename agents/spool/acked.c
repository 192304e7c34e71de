/*
 * spool_acked - the file ACKED: what the aggregator has acknowledged.
 *
 * Two slots are written alternately, so that a torn write leaves the one
 * before it.  What is lost with the file is sent again, and acknowledged again.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/spool_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/hash/crc32c.h"

enum {
	SLOT_BYTES = 65536,
	SLOT_FIXED = 32,
	ENTRY_BYTES = 40,
	ENTRIES_MAX = 1024,
	SLOT_MAX = SLOT_FIXED + ENTRIES_MAX * ENTRY_BYTES + 4,
};
_Static_assert(SLOT_MAX <= SLOT_BYTES, "a slot must fit");

/* The counter of a valid slot, else 0. */
static uint64_t
slot_check(const unsigned char *at)
{
	uint32_t count = spool_get32(at + 24);
	uint32_t bytes = SLOT_FIXED + count * ENTRY_BYTES;

	if (memcmp(at, "PSAK", 4) != 0 || spool_get32(at + 4) != SPOOL_FORMAT ||
	    count > ENTRIES_MAX ||
	    spool_get32(at + bytes) != crc32c(0, at, bytes))
		return 0;
	return spool_get64(at + 8);
}

static void
entry_take(struct spool *spool, const unsigned char *at)
{
	struct session_id session;
	uint64_t acked = spool_get64(at + 24);
	struct spool_stream *s;
	uint32_t i;

	memcpy(session.bytes, at, sizeof(session.bytes));
	i = spool_find_stream(spool, &session, spool_get32(at + 16));
	if (i == UINT32_MAX || acked >= UINT64_MAX / 2)
		return;
	s = spool->streams[i];
	if (s->moved_from > 0 && acked >= s->moved_from)
		acked = s->moved_from - 1;
	s->acked = acked;
	/* Its last segments were deleted, or are damaged. */
	if (s->moved_from == 0 && s->acked >= s->committed)
		s->next = s->committed = s->acked + 1;
	s->generation = spool_get64(at + 32);
}

unsigned char *
spool_acked_read(const struct spool *spool)
{
	unsigned char *at = memory_zero(1, SPOOL_SLOTS * SLOT_BYTES);
	ssize_t n =
	    spool_read_file(spool->dir, "ACKED", at, SPOOL_SLOTS * SLOT_BYTES);
	const unsigned char *best = NULL;
	uint64_t highest = 0;

	for (int i = 0; i < SPOOL_SLOTS && n >= 0; i++) {
		const unsigned char *slot = at + i * SLOT_BYTES;
		uint64_t counter = slot_check(slot);

		if (counter <= highest)
			continue;
		highest = counter;
		best = slot;
	}
	if (best != NULL) {
		memmove(at, best, SLOT_BYTES);
		return at;
	}
	free(at);
	return NULL;
}

bool
spool_acked_lists(const unsigned char *slot, const struct session_id *session,
    uint32_t stream, uint64_t *acked)
{
	for (uint32_t i = 0; i < spool_get32(slot + 24); i++) {
		const unsigned char *at = slot + SLOT_FIXED + i * ENTRY_BYTES;

		*acked = spool_get64(at + 24);
		if (memcmp(at, session->bytes, sizeof(session->bytes)) == 0 &&
		    spool_get32(at + 16) == stream)
			return true;
	}
	return false;
}

void
spool_acked_load(struct spool *spool)
{
	unsigned char *at = spool_acked_read(spool);

	spool->acked_counter = 0;
	spool->acked_stale = SPOOL_SLOTS;
	if (at == NULL)
		return;
	spool->acked_counter = slot_check(at);
	spool->starts = spool_get64(at + 16);
	for (uint32_t i = 0; i < spool_get32(at + 24); i++)
		entry_take(spool, at + SLOT_FIXED + i * ENTRY_BYTES);
	free(at);
}

/* Newer streams first: the oldest ones may have no room. */
static uint32_t
slot_encode(struct spool *spool, unsigned char *to)
{
	uint32_t count = 0;

	memcpy(to, "PSAK", 4);
	spool_put32(to + 4, SPOOL_FORMAT);
	spool_put64(to + 8, spool->acked_counter + 1);
	spool_put64(to + 16, spool->starts);
	for (uint32_t i = spool->streams_count; i-- > 0;) {
		const struct spool_stream *s = spool->streams[i];
		unsigned char *at = to + SLOT_FIXED + count * ENTRY_BYTES;

		if (s == NULL || count == ENTRIES_MAX)
			continue;
		memcpy(at, s->session.bytes, sizeof(s->session.bytes));
		spool_put32(at + 16, s->local);
		spool_put32(at + 20, 0);
		spool_put64(at + 24, s->acked);
		spool_put64(at + 32, s->generation);
		count++;
	}
	spool_put32(to + 24, count);
	spool_put32(to + 28, 0);
	count = SLOT_FIXED + count * ENTRY_BYTES;
	spool_put32(to + count, crc32c(0, to, count));
	return count + 4;
}

static bool
has_blocks(const struct spool *spool, int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return false;
	if (st.st_size >= SPOOL_SLOTS * SLOT_BYTES)
		return true;
	errno = spool_allocate(fd, SPOOL_SLOTS * SLOT_BYTES);
	/* It is new: its name must be on disk, too. */
	return errno == 0 && fsync(spool->dir) == 0;
}

int
spool_acked_save(struct spool *spool, struct err *err)
{
	unsigned char *at = memory_zero(1, SLOT_MAX);
	uint32_t bytes = slot_encode(spool, at);
	uint64_t turn = (spool->acked_counter + 1) % SPOOL_SLOTS;
	int fd = spool_open_file(spool->dir, "ACKED", O_RDWR | O_CREAT);
	int rc = -1;

	if (fd >= 0 && has_blocks(spool, fd) &&
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
