/*
 * spool_meta - any bytes as META, ACKED and FORMER, from memory: what is taken
 * from them against what a slow reading of the same bytes finds.
 *
 * The input is up to three pieces, each behind its length (two bytes, little-
 * endian); checksums are made right when the first byte of the input is odd.
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/spool/spool_private.h"
#include "tests/fuzz/judge_crc.h"
#include "tests/fuzz/memory/memory.h"
#include "tests/fuzz/spool_fix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(what)                                                             \
	do {                                                                   \
		if (!(what))                                                   \
			abort();                                               \
	} while (0)

enum { META, ACKED, PREVIOUS, PIECES, PIECE_BYTES = 20 << 10 };

static const char *const names[PIECES] = { "META", "ACKED", "FORMER" };
static unsigned char files[PIECES][PIECE_BYTES];
static ssize_t bytes_of[PIECES]; /* -1: there is no such file */

/* ---- slowly ---- */

static const unsigned char *
piece(int i, size_t *size)
{
	*size = bytes_of[i] < 0 ? 0 : (size_t)bytes_of[i];
	return files[i];
}

/* Magic, checksum, and the length that the file says of itself; 0: no. */
static size_t
whole(int i, const char *magic, size_t where, size_t least)
{
	size_t size, all;
	const unsigned char *at = piece(i, &size);

	if (size < least || memcmp(at, magic, 4) != 0)
		return 0;
	all = spool_get32(at + where);
	if (all < least || all > size ||
	    spool_get32(at + all - 4) != judge_crc(0, at, all - 4))
		return 0;
	return all - 4;
}

/* A name behind its length: its bytes, 0 when there is none. */
static size_t
name_at(const unsigned char *at, size_t all, size_t o)
{
	size_t n = o + 2 <= all ? at[o] + 256u * at[o + 1] : 0;

	return n <= NAME_BYTES_MAX && o + 2 + n <= all &&
		       strnlen((const char *)at + o + 2, n) == n
		   ? n
		   : 0;
}

static void
judge_meta(const struct spool *spool, int rc, enum spool_found found)
{
	size_t all = whole(META, "PSMT", 64, 76), o = 72, n;
	const unsigned char *at = files[META];
	uint32_t count = all > 0 ? spool_get32(at + 68) : 0, i;

	if (all > 0 && spool_get32(at + 4) != 1) {
		MUST(rc == -1);
		return;
	}
	MUST(rc == 0);
	for (i = 0; all > 0 && i < count && i < SPOOL_STREAMS_MAX; i++) {
		if ((n = name_at(at, all, o)) == 0)
			break;
		/* Names in front of a bad one may have been taken. */
		MUST(found != SPOOL_FOUND ||
		     (strlen(spool->streams[i]->partition) == n &&
			 memcmp(spool->streams[i]->partition, at + o + 2, n) ==
			     0));
		o += 2 + n;
	}
	if (all > 0 && i == count && o == all) {
		MUST(found == SPOOL_FOUND && spool->streams_count == count);
		MUST(memcmp(spool->meta.session.bytes, at + 8, 16) == 0);
		MUST(spool->meta.start_count == spool_get64(at + 56));
	} else {
		MUST(found ==
		     (bytes_of[META] < 0 ? SPOOL_NONE : SPOOL_UNREADABLE));
	}
}

static void
judge_acked(const struct spool *spool, enum spool_found found)
{
	static unsigned char both[2 * 8192];
	const unsigned char *best = NULL;
	size_t size = bytes_of[ACKED] < 0 ? 0 : (size_t)bytes_of[ACKED];
	uint32_t known = 0;

	memset(both, 0, sizeof(both));
	memcpy(both, files[ACKED], size < sizeof(both) ? size : sizeof(both));
	for (const unsigned char *at = both; at < both + sizeof(both);
	     at += 8192) {
		size_t all = 32 + 16 * (size_t)spool_get32(at + 4);

		if (memcmp(at, "PSAK", 4) != 0 ||
		    all > 32 + 16 * SPOOL_STREAMS_MAX ||
		    spool_get32(at + all) != judge_crc(0, at, all) ||
		    spool_get64(at + 8) == 0)
			continue;
		if (best == NULL || spool_get64(at + 8) > spool_get64(best + 8))
			best = at;
	}
	MUST((found == SPOOL_FOUND) == (best != NULL));
	if (best != NULL &&
	    memcmp(best + 16, spool->meta.session.bytes, 16) == 0)
		known = spool_get32(best + 4);
	for (uint32_t i = 0; i < spool->streams_count; i++) {
		uint64_t seq =
		    i < known ? spool_get64(best + 32 + 16 * (size_t)i) : 0;

		MUST(spool->streams[i]->acked ==
		     (seq < UINT64_MAX / 2 ? seq : 0));
	}
}

/* All or none; those of the session itself are left out. */
static void
judge_previous(struct spool *spool)
{
	size_t all = whole(PREVIOUS, "PSFO", 8, 20), o = 16, n;
	const unsigned char *at = files[PREVIOUS];
	uint32_t count = all > 0 ? spool_get32(at + 12) : 0, i, kept = 0;
	size_t place[SPOOL_PAST_SESSIONS_MAX];

	if (all > 0 &&
	    (spool_get32(at + 4) != 1 || count > SPOOL_PAST_SESSIONS_MAX))
		all = 0;
	for (i = 0; all > 0 && i < count; i++, o += 34 + n) {
		if ((n = name_at(at, all, o + 32)) == 0)
			break;
		if (memcmp(at + o, spool->meta.session.bytes, 16) != 0)
			place[kept++] = o;
	}
	if (all == 0 || i < count || o != all)
		kept = 0;
	MUST(spool_past_sessions(spool) == kept);
	for (i = 0; i < kept; i++) {
		const struct spool_past_session *f =
		    spool_past_session(spool, i);

		o = place[i];
		MUST(memcmp(f->session.bytes, at + o, 16) == 0);
		MUST(f->known == spool_get64(at + o + 16));
		MUST(f->since_ns == (int64_t)spool_get64(at + o + 24));
		MUST(!f->forget);
		n = name_at(at, all, o + 32);
		MUST(strlen(f->partition) == n &&
		     memcmp(f->partition, at + o + 34, n) == 0);
	}
}

static void
make_files(const uint8_t *data, size_t size)
{
	const uint8_t *next = data + (size > 0), *end = data + size;

	for (int i = 0; i < PIECES; i++)
		bytes_of[i] =
		    spool_fix_piece(&next, end, files[i], PIECE_BYTES);
	for (int i = 0; size > 0 && (data[0] & 1) != 0 && i < PIECES; i++)
		if (bytes_of[i] >= 0)
			(i == META       ? spool_fix_meta
			    : i == ACKED ? spool_fix_acked
					 : spool_fix_previous)(
			    files[i], (size_t)bytes_of[i]);
	memory_reset();
	for (int i = 0; i < PIECES; i++)
		if (bytes_of[i] >= 0)
			memory_put(names[i], files[i], (size_t)bytes_of[i]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct spool_options options = { .bytes_max = 4 << 20 };
	struct err err = { 0 };
	enum spool_found found;
	struct spool *spool;
	int rc;

	make_files(data, size);
	spool = spool_new(open(MEMORY_DIR, O_RDONLY), &options);
	rc = spool_meta_load(spool, &found, &err);
	judge_meta(spool, rc, found);
	if (rc == 0 && found == SPOOL_FOUND)
		judge_acked(spool, spool_acked_load(spool));
	if (rc == 0) {
		spool_past_sessions_load(spool);
		judge_previous(spool);
	}
	close(spool->dir);
	MUST(memory_opens() == 0);
	spool_clear(spool);
	free(spool->past_sessions);
	free(spool);
	return 0;
}
