/*
 * spool_open - any bytes as META, ACKED, two segments and FORMER of a spool: it
 * opens, everything that is not acknowledged can be read, one more batch fits
 * behind it, previous sessions are the same when they are read again, and no
 * file stays open.
 *
 * The input is up to five pieces, each behind its length (two bytes, little-
 * endian); checksums are made right when the first byte of the input is odd.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "agents/spool/spool.h"
#include "tests/fuzz/memory/memory.h"
#include "tests/fuzz/spool_fix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(what)                                                             \
	do {                                                                   \
		if (!(what))                                                   \
			abort();                                               \
	} while (0)

enum { PIECES = 5, PIECE_BYTES = 32 << 10 };

static const char *const names[PIECES] = { "META", "ACKED",
	"00000000000000000001.seg", "00000000000000000002.seg", "FORMER" };

static void
fix(int piece, unsigned char *at, size_t size)
{
	switch (piece) {
	case 0: spool_fix_meta(at, size); break;
	case 1: spool_fix_acked(at, size); break;
	case 4: spool_fix_previous(at, size); break;
	default: spool_fix_segment(at, size);
	}
}

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
			fix(i, at, (size_t)n);
		memory_put(names[i], at, (size_t)n);
	}
}

static void
read_all(struct spool *spool, struct err *err)
{
	for (uint32_t s = 0; s < spool_streams(spool); s++) {
		uint64_t seq = spool_first_unacked(spool, s);
		struct spool_batch b;

		while (seq < spool_next_seq(spool, s)) {
			MUST(spool_read(spool, s, seq, &b, err) == 1);
			MUST(b.seq == seq && b.last_seq >= seq);
			seq = b.last_seq + 1;
		}
	}
}

/* Written and read again they are what they were. */
static void
write_previous_all(struct spool **spool, const struct spool_options *options)
{
	static struct spool_past_session before[SPOOL_PAST_SESSIONS_MAX];
	uint32_t count = spool_past_sessions(*spool);
	struct err err = { 0 };

	MUST(count <= SPOOL_PAST_SESSIONS_MAX);
	for (uint32_t i = 0; i < count; i++)
		before[i] = *spool_past_session(*spool, i);
	MUST(spool_past_sessions_save(*spool, &err) == 0);
	spool_close(spool);
	MUST(spool_open(spool, MEMORY_DIR, options, &err) == 0);
	MUST(spool_past_sessions(*spool) == count);
	for (uint32_t i = 0; i < count; i++) {
		const struct spool_past_session *after =
		    spool_past_session(*spool, i);

		MUST(session_equal(&before[i].session, &after->session) &&
		     before[i].known == after->known &&
		     strcmp(before[i].partition, after->partition) == 0);
	}
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
		MUST(strstr(err.text, "the spool has format") != NULL);
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
	if (spool_past_sessions(spool) > 0)
		write_previous_all(&spool, &options);
	spool_close(&spool);
	MUST(memory_opens() == 0);
	return 0;
}
