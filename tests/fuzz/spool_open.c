/*
 * spool_open - any bytes as the two slots of ACKED and two segments of a spool:
 * it opens, ACKED never leads, everything that is not acknowledged can be read,
 * one more batch fits behind it, all of it is the same when the spool is opened
 * again, and no file stays open.
 *
 * The input is up to four pieces, each behind its length (two bytes, little-
 * endian); checksums are made right when the first byte of the input is odd.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "agents/spool/spool.h"
#include "tests/fuzz/judge_crc.h"
#include "tests/fuzz/memory/memory.h"
#include "tests/fuzz/spool_fix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(what)                                                             \
	do {                                                                   \
		if (!(what))                                                   \
			abort();                                               \
	} while (0)

enum {
	PIECES = 4,
	PIECE_BYTES = 32 << 10,
	SLOT_BYTES = 64 << 10,
	SLOT_STREAMS_MAX = 1024,
};

static const struct spool_options options = {
	.bytes_max = 4 << 20, .segment_bytes = 16 << 10, .free_bytes_min = 1
};

static unsigned char acked[2 * SLOT_BYTES];

static void
make_files(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "00000000000000000001.seg",
		"00000000000000000002.seg" };
	static unsigned char at[PIECE_BYTES];
	bool right = size > 0 && (data[0] & 1) != 0;
	const uint8_t *next = data + (size > 0), *end = data + size;

	memory_reset();
	memset(acked, 0, sizeof(acked));
	for (int i = 0; i < PIECES; i++) {
		ssize_t n = spool_fix_piece(&next, end, at, sizeof(at));

		if (n < 0)
			break;
		if (right)
			(i < 2 ? spool_fix_acked : spool_fix_segment)(
			    at, (size_t)n);
		if (i < 2)
			memcpy(acked + i * SLOT_BYTES, at, (size_t)n);
		else
			memory_put(names[i - 2], at, (size_t)n);
		if (i == 1)
			memory_put("ACKED", acked, sizeof(acked));
	}
}

/* ---- ACKED, slowly ---- */

/* The slot that counts; NULL: neither. */
static const unsigned char *
find_slot(void)
{
	const unsigned char *best = NULL;

	for (int i = 0; i < 2; i++) {
		const unsigned char *at = acked + i * SLOT_BYTES;
		uint32_t count = spool_get32(at + 24);
		size_t all = 32 + 40 * (size_t)count;

		if (memcmp(at, "PSAK", 4) != 0 || count > SLOT_STREAMS_MAX ||
		    spool_get32(at + all) != judge_crc(0, at, all) ||
		    spool_get64(at + 8) == 0)
			continue;
		if (best == NULL || spool_get64(at + 8) > spool_get64(best + 8))
			best = at;
	}
	return best;
}

/* No stream is acknowledged further than the slot says. */
static void
judge_acked(const struct spool *spool)
{
	const unsigned char *slot = find_slot();
	uint32_t count = slot == NULL ? 0 : spool_get32(slot + 24);

	for (uint32_t s = 0; s < spool_streams(spool); s++) {
		uint64_t most = 0;

		if (spool_partition(spool, s).at == NULL)
			continue;
		for (uint32_t i = 0; i < count; i++) {
			const unsigned char *at = slot + 32 + 40 * (size_t)i;

			if (memcmp(at, spool_session_of(spool, s)->bytes, 16) ==
				0 &&
			    spool_get32(at + 16) ==
				spool_local_number(spool, s) &&
			    spool_get64(at + 24) > most)
				most = spool_get64(at + 24);
		}
		MUST(spool_first_unacked(spool, s) <= most + 1);
	}
}

/* ---- batches ---- */

/* How many batches and gaps are to be sent, and a checksum of them. */
static uint64_t
read_all(struct spool *spool, struct err *err)
{
	uint64_t sum = 0;

	for (uint32_t s = 0; s < spool_streams(spool); s++) {
		uint64_t seq;
		struct spool_batch b;

		if (spool_partition(spool, s).at == NULL)
			continue;
		seq = spool_first_unacked(spool, s);
		while (seq < spool_next_seq(spool, s)) {
			MUST(spool_read(spool, s, seq, &b, err) == 1);
			MUST(b.seq == seq && b.last_seq >= seq);
			sum +=
			    b.reason != 0
				? 1
				: judge_crc(0, (const unsigned char *)b.body.at,
				      b.body.bytes);
			seq = b.last_seq + 1;
		}
	}
	return sum;
}

static void
append_one(struct spool *spool, struct err *err)
{
	struct spool_batch batch = { .records = 1, .body = { "body", 4 } };
	uint32_t stream;
	uint64_t seq;

	MUST(spool_stream(spool, text_of("fuzz$fuzz"), &stream, err) == 0);
	MUST(spool_append(spool, stream, &batch, true, &seq, err) == SPOOL_OK);
	MUST(seq == 1);
	MUST(spool_commit(spool, err) == SPOOL_OK);
	MUST(spool_read(spool, stream, seq, &batch, err) == 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spool *spool;
	struct err err = { 0 };
	uint64_t sum;

	make_files(data, size);
	if (spool_open(&spool, MEMORY_DIR, &options, &err) != 0) {
		MUST(strstr(err.text, "format") != NULL);
		MUST(memory_opens() == 0);
		return 0;
	}
	judge_acked(spool);
	read_all(spool, &err);
	append_one(spool, &err);
	sum = read_all(spool, &err);
	spool_close(&spool);
	MUST(memory_opens() == 0);
	MUST(spool_open(&spool, MEMORY_DIR, &options, &err) == 0);
	MUST(read_all(spool, &err) == sum);
	spool_close(&spool);
	MUST(memory_opens() == 0);
	return 0;
}
