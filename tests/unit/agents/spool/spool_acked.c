/*
 * spool_acked - tests: ACKED damaged or gone, spools of other formats, and
 * names in the directory that are no files of the spool.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/agents/spool/spool_help.h"

#include "proto/hash/crc32c.h"
#include "proto/wire/wire.h"

/* What proto/spool.md says of ACKED, taken apart by hand. */
static void
the_bytes_are_those_of_the_agreement(void **state)
{
	static unsigned char at[2 * 65536];
	struct help h;
	uint32_t s = help_filled(&h, 5), offset;
	uint64_t counter;
	int fd;

	spool_welcomed(h.spool, s, 0x1122334455667788);
	spool_acked(h.spool, s, 3);
	assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
	fd = help_file(&h, "ACKED", O_RDONLY);
	assert_int_equal(pread(fd, at, sizeof(at), 0), sizeof(at));
	close(fd);
	counter = h.spool->acked_counter;
	assert_true(counter >= 2);
	offset = counter % 2 * 65536;
	assert_memory_equal(at + offset, "PSAK\3\0\0\0", 8);
	assert_int_equal(spool_get64(at + offset + 8), counter);
	assert_int_equal(spool_get64(at + offset + 16), 1);
	assert_int_equal(spool_get32(at + offset + 24), 1);
	assert_int_equal(spool_get32(at + offset + 28), 0);
	assert_memory_equal(
	    at + offset + 32, spool_session(h.spool)->bytes, 16);
	assert_int_equal(spool_get32(at + offset + 48), 0);
	assert_int_equal(spool_get32(at + offset + 52), 0);
	assert_int_equal(spool_get64(at + offset + 56), 3);
	assert_true(spool_get64(at + offset + 64) == 0x1122334455667788);
	assert_int_equal(
	    spool_get32(at + offset + 72), crc32c_table(0, at + offset, 72));
	help_end(&h);
}

static void
one_lost_slot_does_no_harm(void **state)
{
	for (int slot = 0; slot < 2; slot++) {
		struct session_id session;
		struct help h;
		uint32_t s = help_filled(&h, 30);

		session = *spool_session(h.spool);
		/* Both say it. */
		spool_acked(h.spool, s, 27);
		assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
		spool_acked(h.spool, s, 28);
		assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
		spool_close(&h.spool);
		help_flip(help_file(&h, "ACKED", O_RDWR), slot * 65536 + 33);
		help_open(&h);
		s = help_earlier(&h, &session, "acct$pool");
		assert_in_range(spool_first_unacked(h.spool, s), 28, 29);
		assert_int_equal(spool_counters(h.spool)->gaps, 0);
		assert_true(spool_start_count(h.spool) == 2);
		help_end(&h);
	}
}

static void
without_it_everything_that_is_left_is_sent_again(void **state)
{
	struct session_id session;
	struct help h;
	uint32_t s = help_filled(&h, 30);
	uint64_t oldest;

	session = *spool_session(h.spool);
	spool_acked(h.spool, s, 20);
	assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
	oldest = spool_oldest(h.spool, s);
	assert_true(oldest > 10);
	spool_close(&h.spool);
	close(help_file(&h, "ACKED", O_RDWR | O_TRUNC));
	help_open(&h);
	s = help_earlier(&h, &session, "acct$pool");
	assert_int_equal(spool_first_unacked(h.spool, s), 1);
	assert_int_equal(spool_next_seq(h.spool, s), 31);
	/* Whether those were acknowledged nobody knows here. */
	help_is_gap(&h, s, 1, oldest - 1, WIRE_GAP_DAMAGED);
	for (uint64_t i = oldest; i <= 30; i++)
		help_is(&h, s, i, i);
	/* The store says what it has. */
	spool_acked(h.spool, s, 25);
	assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
	help_reopen(&h);
	s = help_earlier(&h, &session, "acct$pool");
	assert_int_equal(spool_first_unacked(h.spool, s), 26);
	assert_int_equal(spool_counters(h.spool)->gaps, 0);
	help_end(&h);
}

/* It never leads, whatever it says: what is there and beyond what it says is
 * sent, and what it says of others is passed over. */
static void
what_it_says_of_unknown_streams_is_passed_over(void **state)
{
	unsigned char at[32 + 3 * 40 + 4] = { 'P', 'S', 'A', 'K', 3 };
	struct session_id session;
	struct help h;
	uint32_t s = help_filled(&h, 5);
	int fd;

	session = *spool_session(h.spool);
	spool_close(&h.spool);
	spool_put64(at + 8, 1000);
	spool_put64(at + 16, 70);
	spool_put32(at + 24, 3);
	memset(at + 32, 0xaa, 16);
	spool_put64(at + 32 + 24, 4);
	memcpy(at + 72, session.bytes, 16);
	spool_put32(at + 72 + 16, 9); /* the session has no such stream */
	spool_put64(at + 72 + 24, 4);
	memcpy(at + 112, session.bytes, 16);
	spool_put64(at + 112 + 24, 2);
	spool_put64(at + 112 + 32, 77);
	spool_put32(at + 152, crc32c(0, at, 152));
	fd = help_file(&h, "ACKED", O_RDWR);
	assert_int_equal(pwrite(fd, at, sizeof(at), 0), sizeof(at));
	close(fd);
	help_open(&h);
	assert_int_equal(spool_streams(h.spool), 1);
	s = help_earlier(&h, &session, "acct$pool");
	assert_int_equal(spool_first_unacked(h.spool, s), 3);
	assert_int_equal(spool_generation(h.spool, s), 77);
	assert_int_equal(spool_start_count(h.spool), 71);
	help_end(&h);
}

/* ---- formats ---- */

/* All bytes of all files but LOCK. */
static void
print_of(struct help *h, char *to, size_t room)
{
	char command[160];
	FILE *out;
	size_t used;

	snprintf(command, sizeof(command),
	    "cd %s && find . -type f ! -name LOCK | sort | xargs sha256sum",
	    h->dir);
	out = popen(command, "r");
	assert_non_null(out);
	used = fread(to, 1, room - 1, out);
	to[used] = '\0';
	assert_int_equal(pclose(out), 0);
	assert_true(used > 100);
}

static void
is_refused_and_not_touched(struct help *h, const char *why)
{
	static char before[16 << 10], after[16 << 10];

	print_of(h, before, sizeof(before));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
		    spool_open(&h->spool, h->dir, &h->options, &h->err), -1);
		assert_null(h->spool);
		if (strstr(h->err.text, why) == NULL)
			fail_msg("%s", h->err.text);
		assert_non_null(strstr(h->err.text, h->dir));
		assert_non_null(strstr(h->err.text, "let that version send"));
		print_of(h, after, sizeof(after));
		assert_string_equal(before, after);
	}
}

static void
a_spool_of_the_format_before_is_refused_and_not_touched(void **state)
{
	struct help h;
	int fd;

	help_filled(&h, 10);
	spool_close(&h.spool);
	fd = help_file(&h, "META", O_RDWR | O_CREAT);
	assert_int_equal(write(fd, "PSMT\1\0\0\0", 8), 8);
	close(fd);
	is_refused_and_not_touched(&h, "earlier version");
	help_end(&h);
}

/* Behind files that it would otherwise remove. */
static void
a_segment_of_another_format_is_refused_and_not_touched(void **state)
{
	for (unsigned format = 2; format <= 4; format += 2) {
		unsigned char at[SPOOL_HEAD_BYTES];
		struct help h;
		int fd;

		help_filled(&h, 20);
		spool_close(&h.spool);
		fd = help_segment(&h, 1, O_RDWR);
		assert_int_equal(ftruncate(fd, SPOOL_HEAD_BYTES), 0);
		close(fd);
		fd = help_segment(&h, 3, O_RDWR);
		assert_int_equal(pread(fd, at, sizeof(at), 0), sizeof(at));
		spool_put32(at + 4, format);
		spool_put32(at + 60, crc32c(0, at, 60));
		memcpy(at + SPOOL_HEAD_COPY, at, SPOOL_HEAD_ONE);
		assert_int_equal(pwrite(fd, at, sizeof(at), 0), sizeof(at));
		close(fd);
		is_refused_and_not_touched(&h, "segment 3");
		help_end(&h);
	}
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
		"rm %s/ACKED; ln -s /etc/passwd %s/quarantine",
	};
	struct session_id session;
	struct help h;
	char command[256];

	help_filled(&h, 10);
	session = *spool_session(h.spool);
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
		help_fill(&h, help_stream(&h, "acct$pool"), 0, 10, 9000);
		for (uint64_t i = 1; i <= 10; i++)
			help_is(
			    &h, help_earlier(&h, &session, "acct$pool"), i, i);
		spool_close(&h.spool);
	}
	/* It could not say what is acknowledged. */
	snprintf(command, sizeof(command), "cd %s && rm ACKED && mkfifo ACKED",
	    h.dir);
	assert_int_equal(system(command), 0);
	assert_int_equal(spool_open(&h.spool, h.dir, &h.options, &h.err), -1);
	assert_non_null(strstr(h.err.text, "ACKED"));
	help_end(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bytes_are_those_of_the_agreement),
		cmocka_unit_test(one_lost_slot_does_no_harm),
		cmocka_unit_test(
		    without_it_everything_that_is_left_is_sent_again),
		cmocka_unit_test(
		    what_it_says_of_unknown_streams_is_passed_over),
		cmocka_unit_test(
		    a_spool_of_the_format_before_is_refused_and_not_touched),
		cmocka_unit_test(
		    a_segment_of_another_format_is_refused_and_not_touched),
		cmocka_unit_test(links_pipes_and_strange_names_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
