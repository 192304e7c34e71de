/*
 * spool - tests: batches, numbers, partitions, sessions.  Bounds are in
 * agents/spool/segments.c, damage in agents/spool/recover.c and
 * agents/spool/meta.c, crashes in tests/fault.
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

	(void)state;
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
numbers_and_chains_go_on_after_opening_again(void **state)
{
	struct spool_batch b;
	uint64_t chain = 0;
	struct help h;
	uint32_t s;

	(void)state;
	help_begin(&h);
	help_open(&h);
	s = help_stream(&h, "acct$pool");
	for (int run = 1; run <= 4; run++) {
		assert_int_equal(spool_start_count(h.spool), run);
		help_fill(&h, s, 100, 5, 300);
		help_reopen(&h);
		assert_int_equal(spool_streams(h.spool), 1);
		assert_true(text_equal(
		    spool_partition(h.spool, s), text_of("acct$pool")));
	}
	for (uint64_t seq = 1; seq <= 20; seq++) {
		assert_int_equal(spool_read(h.spool, s, seq, &b, &h.err), 1);
		assert_int_equal(b.chain, chain);
		chain =
		    hash_chain(chain, crc32c_table(0, b.body.at, b.body.bytes),
			b.body.bytes, b.records);
		assert_int_equal(spool_chain(h.spool, s, seq + 1), chain);
	}
	help_end(&h);
}

/* What proto/spool.md says of a segment, taken apart by hand. */
static void
the_bytes_are_those_of_the_agreement(void **state)
{
	static unsigned char at[64 << 10];
	const unsigned char *f = at + 64;
	unsigned char salted[8 + 8];
	struct help h;
	uint32_t crc;
	int fd;

	(void)state;
	help_begin(&h);
	help_open(&h);
	help_fill(&h, help_stream(&h, "acct$pool"), 0, 2, 13);
	fd = help_segment(&h, 1, O_RDONLY);
	assert_int_equal(pread(fd, at, sizeof(at), 0), sizeof(at));
	close(fd);
	assert_memory_equal(at, "PSSG\1\0\0\0", 8);
	assert_memory_equal(at + 8, spool_session(h.spool)->bytes, 16);
	assert_int_equal(spool_get64(at + 24), 1);
	assert_int_equal(spool_get32(at + 60), crc32c_table(0, at, 60));
	assert_memory_equal(f, "PSFR", 4);
	assert_int_equal(spool_get32(f + 4), 13);
	assert_memory_equal(f + 12, "\1\1\0\0", 4);
	assert_int_equal(spool_get64(f + 16), 1);
	assert_int_equal(spool_get64(f + 24), 1);
	assert_int_equal(spool_get64(f + 32), 0);
	assert_int_equal(spool_get32(f + 40), 3);
	assert_int_equal(spool_get32(f + 44), 26);
	memcpy(salted, at + 32, 8);
	memcpy(salted + 8, f, 8);
	crc = crc32c_table(0, salted, 16);
	crc = crc32c_table(crc, f + 12, 56 + 16 - 12);
	assert_int_equal(spool_get32(f + 8), crc);
	assert_int_equal(spool_get64(f + 72 + 16), 2);
	help_end(&h);
}

static void
a_batch_that_does_not_fit_begins_the_next_segment(void **state)
{
	struct help h;
	uint32_t s, t;
	uint64_t seq;

	(void)state;
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

	(void)state;
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

/* Random appends, commits, acknowledgements, openings against a plain list. */
static void
what_was_committed_is_what_is_read(void **state)
{
	uint64_t random = check_seed(), next[4] = { 1, 1, 1, 1 };
	static const char *const names[] = { "a$a", "b$b", "c$c", "d$d" };
	uint32_t sizes[] = { 0, 1, 57, 1000, 9000, 40000 };
	struct help h;

	(void)state;
	help_begin(&h);
	h.options.retain_bytes = 1 << 20;
	help_open(&h);
	for (int i = 0; i < 4; i++)
		help_stream(&h, names[i]);
	for (int step = 0; step < 3000; step++) {
		uint32_t s = check_random(&random) % 4;
		uint64_t first = spool_first_unacked(h.spool, s), seq;
		uint32_t bytes = sizes[check_random(&random) % 6];

		assert_int_equal(
		    help_put(&h, s, next[s] * 4 + s, bytes, true, &seq),
		    SPOOL_OK);
		assert_int_equal(seq, next[s]++);
		if (check_random(&random) % 4 != 0)
			continue;
		help_commit(&h);
		for (int i = 0; i < 8; i++) {
			seq = first + check_random(&random) % (next[s] - first);
			help_is(&h, s, seq, seq * 4 + s);
		}
		for (uint32_t i = 0; i < 4; i++)
			if (next[i] > 20)
				spool_acked(h.spool, i, next[i] - 20);
		if (check_random(&random) % 8 == 0)
			assert_int_equal(spool_tidy(h.spool, step, &h.err), 0);
		if (check_random(&random) % 16 == 0)
			help_reopen(&h);
	}
	assert_int_equal(spool_counters(h.spool)->gaps, 0);
	help_end(&h);
}

static void
a_new_session_takes_along_what_is_unacknowledged(void **state)
{
	struct session_id old;
	struct help h;
	uint32_t s, t;

	(void)state;
	help_begin(&h);
	help_open(&h);
	s = help_stream(&h, "a$a");
	t = help_stream(&h, "b$b");
	help_fill(&h, s, 0, 30, 9000);
	help_fill(&h, t, 1000, 9, 500);
	spool_acked(h.spool, s, 20);
	spool_acked(h.spool, t, 4);
	assert_int_equal(
	    spool_refuse(h.spool, t, 6, WIRE_GAP_REFUSED, &h.err), 0);
	old = *spool_session(h.spool);
	assert_int_equal(spool_new_session(h.spool, s, 16, &h.err), 0);
	for (int round = 0; round < 2; round++) {
		assert_false(session_equal(&old, spool_session(h.spool)));
		assert_int_equal(spool_next_seq(h.spool, s), 16);
		assert_int_equal(spool_next_seq(h.spool, t), 6);
		assert_int_equal(spool_first_unacked(h.spool, s), 1);
		for (uint64_t i = 1; i <= 15; i++)
			help_is(&h, s, i, 15 + i);
		help_is(&h, t, 1, 1005);
		help_is_gap(&h, t, 2, 2, WIRE_GAP_REFUSED);
		help_is(&h, t, 5, 1009);
		help_reopen(&h);
	}
	assert_int_equal(spool_counters(h.spool)->quarantined, 0);
	help_fill(&h, t, 1004, 1, 500);
	help_is(&h, t, 6, 1010);
	help_end(&h);
}

static void
refused_batches_are_copied_and_bounded(void **state)
{
	struct help h;
	struct spool_batch b;
	uint32_t s;

	(void)state;
	help_begin(&h);
	help_open(&h);
	s = help_stream(&h, "acct$pool");
	help_fill(&h, s, 0, 80, 100);
	for (uint64_t i = 1; i <= 75; i++)
		assert_int_equal(
		    spool_refuse(h.spool, s, i + 2, WIRE_GAP_REFUSED, &h.err),
		    0);
	assert_int_equal(help_count(&h, "refused"), 64);
	help_is(&h, s, 2, 2);
	help_is(&h, s, 78, 78);
	help_reopen(&h);
	help_is_gap(&h, s, 3, 77, WIRE_GAP_REFUSED);
	help_is_gap(&h, s, 40, 77, WIRE_GAP_REFUSED);
	help_is(&h, s, 78, 78);
	assert_int_equal(spool_read(h.spool, s, 78, &b, &h.err), 1);
	assert_int_equal(b.chain, spool_chain(h.spool, s, 78));
	assert_true(b.chain != 0);
	assert_int_equal(spool_counters(h.spool)->unacked_batches, 6);
	help_end(&h);
}

static void
a_second_opener_is_refused(void **state)
{
	struct spool *other;
	struct help h;

	(void)state;
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

	(void)state;
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
	assert_int_equal(spool_streams(h.spool), SPOOL_STREAMS_MAX);
	assert_int_equal(spool_first_unacked(h.spool, 255), 3);
	assert_true(text_equal(spool_partition(h.spool, 255), text_of(name)));
	help_end(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_batch_is_readable_after_the_commit_and_not_before),
		cmocka_unit_test(numbers_and_chains_go_on_after_opening_again),
		cmocka_unit_test(the_bytes_are_those_of_the_agreement),
		cmocka_unit_test(
		    a_batch_that_does_not_fit_begins_the_next_segment),
		cmocka_unit_test(reading_in_order_reads_ahead),
		cmocka_unit_test(what_was_committed_is_what_is_read),
		cmocka_unit_test(
		    a_new_session_takes_along_what_is_unacknowledged),
		cmocka_unit_test(refused_batches_are_copied_and_bounded),
		cmocka_unit_test(a_second_opener_is_refused),
		cmocka_unit_test(the_257th_partition_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
