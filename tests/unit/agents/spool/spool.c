/*
 * spool - tests: batches, numbers, partitions.  Sessions are in
 * spool_sessions.c, bounds in spool_segments.c, damage in spool_recover.c and
 * spool_acked.c, crashes in tests/fault.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/agents/spool/spool_help.h"

#include "proto/hash/crc32c.h"
#include "proto/wire/wire.h"

static void
a_batch_is_readable_after_the_commit_and_not_before(void **state)
{
	struct help h;
	struct spool_batch b;
	uint64_t seq = 0;
	uint32_t s;

	help_begin(&h);
	help_open(&h);
	s = help_stream(&h, "acct$pool");
	assert_int_equal(help_put(&h, s, 7, 100, true, &seq), SPOOL_OK);
	assert_int_equal(seq, 1);
	assert_int_equal(spool_next_seq(h.spool, s), 1);
	assert_int_equal(spool_read(h.spool, s, 1, &b, &h.err), 0);
	help_commit(&h);
	help_is(&h, s, 1, 7);
	assert_int_equal(spool_read(h.spool, s, 2, &b, &h.err), 0);
	assert_int_equal(spool_counters(h.spool)->unacked_batches, 1);
	help_end(&h);
}

static void
numbers_and_running_hashes_begin_again_with_each_opening(void **state)
{
	struct session_id sessions[4];
	struct spool_batch b;
	struct help h;

	help_begin(&h);
	help_open(&h);
	for (int run = 0; run < 4; run++) {
		uint64_t seq;
		uint32_t s = help_stream(&h, "acct$pool");

		assert_int_equal(spool_start_count(h.spool), run + 1);
		assert_int_equal(spool_next_seq(h.spool, s), 1);
		sessions[run] = *spool_session(h.spool);
		assert_true(session_equal(
		    spool_session_of(h.spool, s), &sessions[run]));
		help_fill(&h, s, 100 * (uint64_t)run, 5, 300);
		help_reopen(&h);
		/* What was is only read. */
		s = help_earlier(&h, &sessions[run], "acct$pool");
		assert_int_equal(spool_next_seq(h.spool, s), 6);
		assert_int_equal(spool_local_number(h.spool, s), 0);
		assert_int_equal(spool_read(h.spool, s, 6, &b, &h.err), 0);
		assert_int_equal(help_put(&h, s, 1, 10, true, &seq), SPOOL_IO);
		assert_non_null(strstr(h.err.text, "session"));
	}
	assert_int_equal(spool_streams(h.spool), 4);
	for (int run = 0; run < 4; run++) {
		uint32_t s = help_earlier(&h, &sessions[run], "acct$pool");
		uint64_t chain = 0;

		for (uint64_t seq = 1; seq <= 5; seq++) {
			help_is(&h, s, seq, 100 * (uint64_t)run + seq);
			assert_int_equal(
			    spool_read(h.spool, s, seq, &b, &h.err), 1);
			assert_int_equal(b.chain, chain);
			chain = hash_chain(chain,
			    crc32c_table(0, b.body.at, b.body.bytes),
			    b.body.bytes, b.records);
		}
	}
	assert_int_equal(spool_counters(h.spool)->unacked_batches, 20);
	assert_int_equal(spool_counters(h.spool)->gaps, 0);
	help_end(&h);
}

/* What proto/spool.md says of a segment, taken apart by hand. */
static void
the_bytes_are_those_of_the_agreement(void **state)
{
	static unsigned char at[64 << 10];
	const unsigned char *name = at + 576, *f = name + 56 + 16;
	static const unsigned char zeros[16];
	unsigned char salted[8 + 8];
	struct help h;
	uint32_t crc;
	int fd;

	help_begin(&h);
	help_open(&h);
	help_fill(&h, help_stream(&h, "acct$pool"), 0, 2, 13);
	fd = help_segment(&h, 1, O_RDONLY);
	assert_int_equal(pread(fd, at, sizeof(at), 0), sizeof(at));
	close(fd);
	assert_memory_equal(at, "PSSG\3\0\0\0", 8);
	assert_memory_equal(at + 8, spool_session(h.spool)->bytes, 16);
	assert_int_equal(spool_get64(at + 24), 1);
	assert_memory_equal(at + 40, zeros, 16);
	assert_int_equal(spool_get32(at + 60), crc32c_table(0, at, 60));
	assert_memory_equal(at + 512, at, 64);
	for (int i = 64; i < 512; i++)
		assert_int_equal(at[i], 0);
	/* The stream is named before its first batch. */
	assert_memory_equal(name, "PSFR\11\0\0\0", 8);
	assert_memory_equal(name + 12, "\2\0\0\0", 4);
	assert_memory_equal(name + 56, "acct$pool\0\0\0\0\0\0\0", 16);
	assert_memory_equal(f, "PSFR", 4);
	assert_int_equal(spool_get32(f + 4), 13);
	assert_memory_equal(f + 12, "\1\1\0\0", 4);
	assert_int_equal(spool_get64(f + 16), 1);
	assert_int_equal(spool_get64(f + 24), 1);
	assert_int_equal(spool_get64(f + 32), 0);
	assert_int_equal(spool_get32(f + 40), 3);
	assert_int_equal(spool_get32(f + 44), 26);
	assert_int_equal(spool_get32(f + 52), 56 + 16);
	memcpy(salted, at + 32, 8);
	memcpy(salted + 8, f, 8);
	crc = crc32c_table(0, salted, 16);
	crc = crc32c_table(crc, f + 12, 56 + 16 - 12);
	assert_int_equal(spool_get32(f + 8), crc);
	assert_int_equal(spool_get64(f + 72 + 16), 2);
	assert_int_equal(spool_get32(f + 72 + 52), 0);
	help_end(&h);
}

static void
a_batch_that_does_not_fit_begins_the_next_segment(void **state)
{
	struct help h;
	uint32_t s, t;
	uint64_t seq;

	help_begin(&h);
	help_open(&h);
	s = help_stream(&h, "a$a");
	t = help_stream(&h, "b$b");
	/* One commit across a border, and batches larger than a segment. */
	for (uint64_t i = 1; i <= 8; i++) {
		assert_int_equal(
		    help_put(&h, s, i, 30000, true, &seq), SPOOL_OK);
		assert_int_equal(
		    help_put(&h, t, 50 + i, 100, true, &seq), SPOOL_OK);
	}
	assert_int_equal(
	    help_put(&h, t, 59, HELP_BODY_MAX, true, &seq), SPOOL_OK);
	help_commit(&h);
	for (int round = 0; round < 2; round++) {
		assert_true(help_count(&h, ".") >= 5);
		for (uint64_t i = 1; i <= 8; i++) {
			help_is(&h, s, i, i);
			help_is(&h, t, i, 50 + i);
		}
		help_is(&h, t, 9, 59);
		help_reopen(&h);
	}
	assert_int_equal(spool_counters(h.spool)->gaps, 0);
	help_end(&h);
}

static uint64_t
reads_so_far(void)
{
	unsigned long long n = 0;
	char line[128];
	FILE *f = fopen("/proc/self/io", "r");

	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "syscr: %llu", &n) == 1)
			break;
	}
	if (f != NULL)
		fclose(f);
	return n;
}

static void
reading_in_order_reads_ahead(void **state)
{
	struct help h;
	uint64_t before, seq;
	uint32_t s[3];

	help_begin(&h);
	help_open(&h);
	for (int i = 0; i < 3; i++)
		s[i] = help_stream(&h, (char[]){ (char)('a' + i), '$', 0 });
	for (uint64_t i = 0; i < 9000; i++) {
		assert_int_equal(
		    help_put(&h, s[i % 3], i, 100, true, &seq), SPOOL_OK);
		if (i % 100 == 99)
			help_commit(&h);
	}
	help_reopen(&h);
	before = reads_so_far();
	for (int i = 0; i < 3; i++) {
		for (uint64_t n = 1; n <= 3000; n++)
			help_is(&h, s[i], n, (n - 1) * 3 + (uint64_t)i);
	}
	/* 9,000 batches; valgrind reads some for itself. */
	assert_true(reads_so_far() - before < 1500);
	help_end(&h);
}

/* One session as a plain list. */
struct lived {
	struct session_id id;
	uint64_t next[4], acked[4];
};

static const char *const names[] = { "a$a", "b$b", "c$c", "d$d" };

static uint64_t
id_of(uint32_t session, uint32_t stream, uint64_t seq)
{
	return ((uint64_t)session << 32) + seq * 4 + stream;
}

static void
is_as_lived(struct help *h, const struct lived *lived, uint32_t session)
{
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t s = help_earlier(h, &lived->id, names[i]);
		uint64_t acked = lived->acked[i];

		if (s == UINT32_MAX) {
			assert_int_equal(acked + 1, lived->next[i]);
			continue;
		}
		assert_int_equal(spool_next_seq(h->spool, s), lived->next[i]);
		assert_true(spool_first_unacked(h->spool, s) <= acked + 1);
		for (uint64_t n = acked + 1; n < lived->next[i]; n++)
			help_is(h, s, n, id_of(session, i, n));
	}
}

/* Acknowledge some of a session, whether it is the current one or not. */
static void
acknowledge(struct help *h, struct lived *lived, uint64_t keep)
{
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t s = help_earlier(h, &lived->id, names[i]);

		if (lived->next[i] > lived->acked[i] + keep + 1)
			lived->acked[i] = lived->next[i] - keep - 1;
		if (s != UINT32_MAX)
			spool_acked(h->spool, s, lived->acked[i]);
	}
}

/* Random appends, commits, acknowledgements, openings against plain lists. */
static void
what_was_committed_is_what_is_read(void **state)
{
	static struct lived lived[512];
	uint64_t random = check_seed();
	uint32_t sizes[] = { 0, 1, 57, 1000, 9000, 40000 }, now = 0;
	struct help h;

	help_begin(&h);
	h.options.retain_bytes = 1 << 20;
	help_open(&h);
	lived[0] = (struct lived){ .id = *spool_session(h.spool),
		.next = { 1, 1, 1, 1 } };
	for (int step = 0; step < 3000; step++) {
		uint32_t i = check_random(&random) % 4;
		uint32_t bytes = sizes[check_random(&random) % 6], s;
		uint64_t seq;

		s = help_stream(&h, names[i]);
		assert_int_equal(
		    help_put(&h, s, id_of(now, i, lived[now].next[i]), bytes,
			true, &seq),
		    SPOOL_OK);
		assert_int_equal(seq, lived[now].next[i]++);
		if (check_random(&random) % 4 != 0)
			continue;
		help_commit(&h);
		acknowledge(&h, &lived[now], 20);
		if (now > 0)
			acknowledge(&h, &lived[check_random(&random) % now], 0);
		if (check_random(&random) % 8 == 0)
			assert_int_equal(spool_tidy(h.spool, step, &h.err), 0);
		if (check_random(&random) % 16 == 0) {
			help_reopen(&h);
			lived[++now] =
			    (struct lived){ .id = *spool_session(h.spool),
				    .next = { 1, 1, 1, 1 } };
			for (uint32_t j = 0; j < now; j++)
				is_as_lived(&h, &lived[j], j);
		}
	}
	assert_int_equal(spool_counters(h.spool)->gaps, 0);
	help_end(&h);
}

static void
refused_batches_are_copied_and_bounded(void **state)
{
	struct session_id session;
	struct help h;
	struct spool_batch b, behind;
	uint32_t s;

	help_begin(&h);
	help_open(&h);
	s = help_stream(&h, "acct$pool");
	session = *spool_session(h.spool);
	help_fill(&h, s, 0, 80, 100);
	for (uint64_t i = 1; i <= 75; i++)
		assert_int_equal(
		    spool_refuse(h.spool, s, i + 2, WIRE_GAP_REFUSED, &h.err),
		    0);
	assert_int_equal(help_count(&h, "refused"), 64);
	help_is(&h, s, 2, 2);
	help_is_gap(&h, s, 3, 77, WIRE_GAP_REFUSED);
	help_is_gap(&h, s, 40, 77, WIRE_GAP_REFUSED);
	assert_int_equal(spool_read(h.spool, s, 40, &b, &h.err), 1);
	help_is(&h, s, 78, 78);
	assert_int_equal(spool_read(h.spool, s, 78, &behind, &h.err), 1);
	assert_true(b.chain_after != 0 && b.chain_after == behind.chain);
	assert_int_equal(spool_counters(h.spool)->unacked_batches, 6);
	/* The next start offers them once more. */
	help_reopen(&h);
	s = help_earlier(&h, &session, "acct$pool");
	for (uint64_t i = 1; i <= 80; i++)
		help_is(&h, s, i, i);
	assert_int_equal(spool_counters(h.spool)->unacked_batches, 80);
	help_end(&h);
}

/* A refused batch is a segment that says whose it is. */
static void
a_refused_batch_can_be_looked_at(void **state)
{
	static unsigned char at[2048];
	struct spool_head head;
	struct spool_frame f;
	struct help h;
	ssize_t n;
	int fd;

	help_filled(&h, 2);
	help_fill(&h, 0, 0, 1, 100);
	assert_int_equal(
	    spool_refuse(h.spool, 0, 3, WIRE_GAP_REFUSED, &h.err), 0);
	fd = help_file(&h, "refused/00000000000000000001.seg", O_RDONLY);
	n = pread(fd, at, sizeof(at), 0);
	close(fd);
	assert_int_equal(n, SPOOL_HEAD_BYTES + 72 + 56 + 104);
	assert_true(spool_get_head(at, &head));
	assert_true(session_equal(&head.session, spool_session(h.spool)));
	assert_true(spool_peek_frame(
	    at + SPOOL_HEAD_BYTES, SPOOL_HEAD_BYTES, (uint32_t)n, &f));
	assert_true(spool_frame_is_whole(at + SPOOL_HEAD_BYTES, head.salt, &f));
	assert_int_equal(f.type, SPOOL_STREAM);
	assert_memory_equal(at + SPOOL_HEAD_BYTES + 56, "acct$pool", 9);
	assert_true(spool_peek_frame(at + 648, 648, (uint32_t)n, &f));
	assert_true(spool_frame_is_whole(at + 648, head.salt, &f));
	assert_int_equal(f.type, SPOOL_BATCH);
	assert_int_equal(f.seq, 3);
	assert_memory_equal(at + 648 + 56, help_body(3, 100).at, 100);
	help_end(&h);
}

static void
a_second_opener_is_refused(void **state)
{
	struct spool *other;
	struct help h;

	help_begin(&h);
	help_open(&h);
	assert_int_equal(spool_open(&other, h.dir, &h.options, &h.err), -1);
	assert_null(other);
	assert_non_null(strstr(h.err.text, "another process"));
	help_end(&h);
}

static void
the_257th_partition_is_refused(void **state)
{
	uint32_t stream = 0;
	struct help h;
	char name[256];

	help_begin(&h);
	help_open(&h);
	memset(name, 'x', 255);
	name[255] = '\0';
	for (int i = 0; i < SPOOL_STREAMS_MAX; i++) {
		name[0] = (char)('a' + i / 16);
		name[1] = (char)('a' + i % 16);
		name[2] = '$';
		assert_int_equal(help_stream(&h, name), i);
	}
	assert_int_equal(
	    spool_stream(h.spool, text_of("more$more"), &stream, &h.err), -1);
	assert_non_null(strstr(h.err.text, "256"));
	help_fill(&h, 255, 0, 3, 10);
	spool_acked(h.spool, 255, 2);
	assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
	help_reopen(&h);
	/* Only what has batches is left; the new session has its own. */
	assert_int_equal(spool_streams(h.spool), 1);
	assert_int_equal(spool_local_number(h.spool, 0), 255);
	assert_int_equal(spool_first_unacked(h.spool, 0), 3);
	assert_true(text_equal(spool_partition(h.spool, 0), text_of(name)));
	for (int i = 0; i < SPOOL_STREAMS_MAX; i++) {
		name[0] = (char)('a' + i / 16);
		name[1] = (char)('a' + i % 16);
		stream = help_stream(&h, name);
		assert_int_equal(spool_local_number(h.spool, stream), i);
	}
	help_end(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_batch_is_readable_after_the_commit_and_not_before),
		cmocka_unit_test(
		    numbers_and_running_hashes_begin_again_with_each_opening),
		cmocka_unit_test(the_bytes_are_those_of_the_agreement),
		cmocka_unit_test(
		    a_batch_that_does_not_fit_begins_the_next_segment),
		cmocka_unit_test(reading_in_order_reads_ahead),
		cmocka_unit_test(what_was_committed_is_what_is_read),
		cmocka_unit_test(refused_batches_are_copied_and_bounded),
		cmocka_unit_test(a_refused_batch_can_be_looked_at),
		cmocka_unit_test(a_second_opener_is_refused),
		cmocka_unit_test(the_257th_partition_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
