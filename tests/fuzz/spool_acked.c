/*
 * spool_acked - any bytes as the two slots of ACKED, from memory: what is taken
 * from them against what a slow reading of the same bytes finds.
 *
 * The input is up to two pieces, each behind its length (two bytes, little-
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
#include "tests/fuzz/must.h"
#include "tests/fuzz/spool_fix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SLOT = 65536, STREAMS = 3 };

static unsigned char file[2 * SLOT];

static void
make_file(const uint8_t *data, size_t size)
{
	const uint8_t *next = data + (size > 0), *end = data + size;
	bool right = size > 0 && (data[0] & 1) != 0;

	memset(file, 0, sizeof(file));
	for (int i = 0; i < 2; i++) {
		unsigned char *at = file + i * SLOT;

		if (spool_fix_piece(&next, end, at, SLOT) < 0)
			break;
		if (right)
			spool_fix_slot(at, SLOT);
	}
	memory_reset();
	memory_put("ACKED", file, sizeof(file));
}

/* The slot that counts; NULL: none. */
static const unsigned char *
best_slot(void)
{
	const unsigned char *best = NULL;

	for (const unsigned char *at = file; at < file + sizeof(file);
	     at += SLOT) {
		size_t all = 32 + 40 * (size_t)spool_get32(at + 24);

		if (memcmp(at, "PSAK\3\0\0\0", 8) != 0 ||
		    all > 32 + 40 * 1024 ||
		    spool_get32(at + all) != judge_crc(0, at, all) ||
		    spool_get64(at + 8) == 0)
			continue;
		if (best == NULL || spool_get64(at + 8) > spool_get64(best + 8))
			best = at;
	}
	return best;
}

/* The last entry of a stream counts. */
static void
judge_stream(const struct spool_stream *s, const unsigned char *slot)
{
	uint64_t acked = 0, generation = 0;

	for (uint32_t i = 0; slot != NULL && i < spool_get32(slot + 24); i++) {
		const unsigned char *e = slot + 32 + 40 * (size_t)i;

		if (memcmp(e, s->session.bytes, 16) != 0 ||
		    spool_get32(e + 16) != s->local ||
		    spool_get64(e + 24) >= UINT64_MAX / 2)
			continue;
		acked = spool_get64(e + 24);
		generation = spool_get64(e + 32);
	}
	MUST(s->acked == acked && s->generation == generation);
	MUST(s->committed > s->acked);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct spool_options options = { .bytes_max = 4 << 20 };
	struct session_id session;
	const unsigned char *slot;
	struct spool *spool;

	make_file(data, size);
	slot = best_slot();
	spool = spool_new(open(MEMORY_DIR, O_RDONLY), &options);
	memset(&session, 0x11, sizeof(session));
	for (uint32_t i = 0; i < STREAMS; i++) {
		char partition[] = { 'a', '$', (char)('a' + i), '\0' };

		spool_add_stream(spool, &session, i, text_of(partition));
	}
	spool_acked_load(spool);
	MUST(spool->starts == (slot != NULL ? spool_get64(slot + 16) : 0));
	for (uint32_t i = 0; i < STREAMS; i++)
		judge_stream(spool->streams[i], slot);
	close(spool->dir);
	MUST(memory_opens() == 0);
	spool_clear(spool);
	free(spool);
	return 0;
}
