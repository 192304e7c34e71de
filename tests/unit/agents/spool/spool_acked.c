/*
 * spool_meta - tests: META and ACKED damaged, of another format, gone; and
 * names in the directory that are no files of the spool.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/agents/spool/spool_help.h"

#include "proto/hash/crc32c.h"
#include "proto/wire/wire.h"

static void
one_lost_slot_of_acked_does_no_harm(void **state)
{
	for (int slot = 0; slot < 2; slot++) {
		struct help h;
		uint32_t s = help_filled(&h, 30);

		(void)state;
		spool_acked(h.spool, s, 28);
		assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
		spool_close(&h.spool);
		help_flip(help_file(&h, "ACKED", O_RDWR), slot * 8192 + 33);
		help_open(&h);
		assert_int_equal(spool_first_unacked(h.spool, s), 29);
		assert_int_equal(spool_counters(h.spool)->gaps, 0);
		help_end(&h);
	}
}

static void
without_acked_no_number_is_given_again(void **state)
{
	struct help h;
	uint32_t s = help_filled(&h, 30), idle = help_stream(&h, "idle$idle");

	(void)state;
	spool_acked(h.spool, s, 30);
	assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
	spool_close(&h.spool);
	close(help_file(&h, "ACKED", O_RDWR | O_TRUNC));
	help_open(&h);
	/* What is left shows where this stream stands ... */
	assert_int_equal(spool_next_seq(h.spool, s), 31);
	help_is_gap(&h, s, 2, 24, WIRE_GAP_DAMAGED);
	/* ... but of that nobody knows. */
	assert_true(spool_next_seq(h.spool, idle) > UINT32_MAX);
	help_reopen(&h);
	assert_int_equal(spool_next_seq(h.spool, s), 31);
	help_end(&h);
}

static void
without_meta_everything_is_set_aside(void **state)
{
	struct session_id old;
	struct help h;
	uint32_t s = help_filled(&h, 80);

	(void)state;
	old = *spool_session(h.spool);
	spool_close(&h.spool);
	help_flip(help_file(&h, "META", O_RDWR), 10);
	help_open(&h);
	assert_false(session_equal(&old, spool_session(h.spool)));
	assert_int_equal(spool_streams(h.spool), 0);
	assert_int_equal(spool_start_count(h.spool), 1);
	assert_int_equal(help_count(&h, "."), 0);
	assert_int_equal(help_count(&h, "quarantine"), 8);
	assert_int_equal(spool_counters(h.spool)->quarantined, 14);
	s = help_stream(&h, "acct$pool");
	help_fill(&h, s, 0, 3, 100);
	help_reopen(&h);
	help_is(&h, s, 3, 3);
	help_end(&h);
}

static void
a_spool_of_another_format_is_refused_and_not_touched(void **state)
{
	unsigned char meta[4096], again[4096];
	struct help h;
	uint32_t crc;
	ssize_t n;
	int fd;

	(void)state;
	help_filled(&h, 10);
	spool_close(&h.spool);
	fd = help_file(&h, "META", O_RDWR);
	n = pread(fd, meta, sizeof(meta), 0);
	meta[4] = 2;
	crc = crc32c(0, meta, (size_t)n - 4);
	spool_put32(meta + n - 4, crc);
	assert_int_equal(pwrite(fd, meta, (size_t)n, 0), n);
	assert_int_equal(spool_open(&h.spool, h.dir, &h.options, &h.err), -1);
	assert_non_null(strstr(h.err.text, "format 2"));
	assert_int_equal(pread(fd, again, sizeof(again), 0), n);
	assert_memory_equal(meta, again, n);
	close(fd);
	assert_int_equal(help_count(&h, "."), 2);
	help_end(&h);
}

static void
links_pipes_and_strange_names_are_passed_over(void **state)
{
	static const char *const make[] = {
		"ln -s /etc/passwd %s/00000000000000000077.seg",
		"mkfifo %s/00000000000000000078.seg",
		"mkdir %s/00000000000000000079.seg",
		"echo junk >%s/00000000000000000080.seg",
		"echo junk >%s/18446744073709551615.seg",
		"echo junk >%s/99999999999999999999.seg",
		"echo junk >%s/1.seg",
		"rm %s/META.tmp; ln -s /etc/passwd %s/META.tmp",
		"rm %s/ACKED; mkfifo %s/ACKED",
	};
	struct help h;
	uint32_t s = help_filled(&h, 10);
	char command[256];

	(void)state;
	spool_close(&h.spool);
	for (size_t i = 0; i < sizeof(make) / sizeof(*make); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(command, sizeof(command), make[i], h.dir, h.dir);
#pragma GCC diagnostic pop
		assert_int_equal(system(command), 0);
	}
	for (int round = 0; round < 3; round++) {
		help_open(&h);
		help_fill(&h, s, 0, 10, 9000);
		for (uint64_t i = 1; i <= 10; i++)
			help_is(&h, s, i, i);
		spool_close(&h.spool);
	}
	help_end(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_lost_slot_of_acked_does_no_harm),
		cmocka_unit_test(without_acked_no_number_is_given_again),
		cmocka_unit_test(without_meta_everything_is_set_aside),
		cmocka_unit_test(
		    a_spool_of_another_format_is_refused_and_not_touched),
		cmocka_unit_test(links_pipes_and_strange_names_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
