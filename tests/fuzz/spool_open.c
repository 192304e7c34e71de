/*
 * spool_open - any bytes as ACKED and three segments of a spool: it opens,
 * everything that is not acknowledged can be read, one more batch fits into a
 * new session, what is moved is gone from where it was, and no file stays open.
 *
 * The input is up to four pieces, each behind its length (two bytes, little-
 * endian); checksums are made right when the first byte of the input is odd.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "agents/spool/spool.h"
#include "tests/fuzz/memory/memory.h"
#include "tests/fuzz/must.h"
#include "tests/fuzz/spool_fix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PIECES = 4, PIECE_BYTES = 32 << 10 };

static const char *const names[PIECES] = { "ACKED", "00000000000000000001.seg",
	"00000000000000000002.seg", "00000000000000000003.seg" };

static void
make_files(const uint8_t *data, size_t size)
{
	static unsigned char at[PIECE_BYTES];
	bool right = size > 0 && (data[0] & 1) != 0;
	const uint8_t *next = data + (size > 0), *end = data + size;

	memory_reset();
	for (int i = 0; i < PIECES; i++) {
		ssize_t n = spool_fix_piece(&next, end, at, sizeof(at));

		if (n < 0)
			break;
		if (right)
			(i == 0 ? spool_fix_slot : spool_fix_segment)(
			    at, (size_t)n);
		memory_put(names[i], at, (size_t)n);
	}
}

static void
read_all(struct spool *spool, struct err *err)
{
	for (uint32_t s = 0; s < spool_streams(spool); s++) {
		uint64_t seq;
		struct spool_batch b;
		int rounds = 0;

		if (spool_partition(spool, s).at == NULL)
			continue;
		seq = spool_first_unacked(spool, s);
		while (seq < spool_next_seq(spool, s) && rounds++ < 5000) {
			MUST(spool_read(spool, s, seq, &b, err) == 1);
			MUST(b.seq == seq && b.last_seq >= seq);
			seq = b.last_seq + 1;
		}
	}
}

/* The batches of the oldest session go on in the current one. */
static void
move_one(struct spool *spool, struct err *err)
{
	uint32_t streams[SPOOL_STREAMS_MAX], to;

	if (spool_take_session(spool, streams, SPOOL_STREAMS_MAX) == 0)
		return;
	for (int i = 0; i < 100; i++) {
		MUST(spool_move(spool, streams[0], &to, err) != SPOOL_IO);
		if (!spool_is_to_move(spool, streams[0]))
			break;
	}
	MUST(spool_next_seq(spool, streams[0]) ==
	     spool_first_unacked(spool, streams[0]));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct spool_options options = { .bytes_max = 4 << 20,
		.segment_bytes = 16 << 10,
		.free_bytes_min = 1 };
	struct spool_batch batch = { .records = 1, .body = { "body", 4 } };
	struct spool *spool;
	struct err err = { 0 };
	uint32_t stream;
	uint64_t seq;

	make_files(data, size);
	if (spool_open(&spool, MEMORY_DIR, &options, &err) != 0) {
		MUST(strstr(err.text, "has format") != NULL);
		MUST(memory_opens() == 0);
		return 0;
	}
	read_all(spool, &err);
	if (spool_stream(spool, text_of("fuzz$fuzz"), &stream, &err) == 0) {
		MUST(spool_append(spool, stream, &batch, true, &seq, &err) ==
		     SPOOL_OK);
		MUST(spool_commit(spool, &err) == SPOOL_OK);
		MUST(spool_read(spool, stream, seq, &batch, &err) == 1);
	}
	move_one(spool, &err);
	read_all(spool, &err);
	spool_close(&spool);
	MUST(memory_opens() == 0);
	return 0;
}
