/*
 * spool_recover - tests: torn tails, damaged and missing segments.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/agents/spool/spool_help.h"

#include <dlfcn.h>
#include <errno.h>

#include "proto/wire/wire.h"

/* Replaces the C library's: returns some entries, then an error. */
static int entries_left = INT32_MAX;

struct dirent *
readdir(DIR *dir)
{
	union {
		void *symbol;
		struct dirent *(*call)(DIR *dir);
	} real = { dlsym(RTLD_NEXT, "readdir") };

	if (entries_left-- > 0)
		return real.call(dir);
	errno = EIO;
	return NULL;
}

static void
a_torn_tail_is_cut_off(void **state)
{
	struct help h;
	uint32_t s = help_filled(&h, 4), end;
	int fd;

	(void)state;
	end = h.spool->active->end;
	spool_close(&h.spool);
	fd = help_segment(&h, 1, O_RDWR);
	/* The beginning of a frame, and sectors from further behind. */
	assert_int_equal(pwrite(fd, "PSFR\200\1\0\0abcd\1", 13, end), 13);
	assert_int_equal(pwrite(fd, "tail", 4, end + 2048), 4);
	close(fd);
	help_open(&h);
	assert_int_equal(spool_next_seq(h.spool, s), 5);
	assert_int_equal(spool_counters(h.spool)->torn_bytes, 2052);
	assert_int_equal(spool_counters(h.spool)->quarantined, 0);
	help_fill(&h, s, 0, 2, 100);
	help_reopen(&h);
	assert_int_equal(spool_counters(h.spool)->torn_bytes, 0);
	for (uint64_t i = 1; i <= 6; i++)
		help_is(&h, s, i, i);
	help_end(&h);
}

static void
a_torn_commit_is_cut_off_whole_from_its_first_bad_frame(void **state)
{
	struct help h;
	uint32_t s = help_filled(&h, 1), offset;
	uint64_t seq;

	(void)state;
	for (uint64_t i = 2; i <= 5; i++)
		help_put(&h, s, i, 3000, true, &seq);
	help_commit(&h);
	help_find(&h, s, 3, &offset);
	spool_close(&h.spool);
	help_flip(help_segment(&h, 1, O_RDWR), offset + 500);
	help_open(&h);
	assert_int_equal(spool_next_seq(h.spool, s), 3);
	assert_int_equal(spool_counters(h.spool)->quarantined, 0);
	assert_int_equal(spool_counters(h.spool)->gaps, 0);
	help_fill(&h, s, 100, 1, 3000);
	help_reopen(&h);
	assert_int_equal(spool_next_seq(h.spool, s), 4);
	help_is(&h, s, 3, 103);
	help_end(&h);
}

static void
a_frame_of_a_reused_block_stays_dead(void **state)
{
	static unsigned char frame[200];
	struct spool_frame f = {
		.type = SPOOL_BATCH, .bytes = 100, .seq = 5, .last_seq = 5
	};
	struct help h;
	uint32_t s = help_filled(&h, 4), end = h.spool->active->end;
	uint64_t salt = h.spool->active->salt;
	int fd;

	(void)state;
	/* Whole, with the right number and in the right place, but written
	 * for another segment; and then, to be sure, for this one. */
	for (int own = 0; own < 2; own++) {
		spool_close(&h.spool);
		spool_put_frame(
		    frame, own ? salt : salt + 1, &f, help_body(5, 100).at);
		fd = help_segment(&h, 1, O_RDWR);
		assert_int_equal(pwrite(fd, frame, 160, end), 160);
		close(fd);
		help_open(&h);
		assert_int_equal(spool_next_seq(h.spool, s), own ? 6 : 5);
	}
	help_end(&h);
}

static void
a_damaged_batch_becomes_a_gap_and_the_others_stay(void **state)
{
	struct help h;
	uint32_t s = help_filled(&h, 20), offset;
	uint64_t number = help_find(&h, s, 9, &offset);

	(void)state;
	spool_close(&h.spool);
	help_flip(help_segment(&h, number, O_RDWR), offset + 77);
	help_open(&h);
	assert_int_equal(spool_counters(h.spool)->quarantined, 1);
	assert_int_equal(spool_counters(h.spool)->gaps, 1);
	for (int round = 0; round < 3; round++) {
		assert_int_equal(spool_next_seq(h.spool, s), 21);
		for (uint64_t i = 1; i <= 20; i++)
			if (i != 9)
				help_is(&h, s, i, i);
		help_is_gap(&h, s, 9, 9, WIRE_GAP_DAMAGED);
		assert_int_equal(help_count(&h, "quarantine"), 1);
		help_reopen(&h);
		assert_int_equal(spool_counters(h.spool)->quarantined, 0);
		assert_int_equal(spool_counters(h.spool)->gaps, 0);
	}
	help_end(&h);
}

static void
damage_in_the_last_segment_is_no_torn_tail(void **state)
{
	struct help h;
	uint32_t s = help_filled(&h, 5), offset;

	(void)state;
	help_find(&h, s, 2, &offset);
	spool_close(&h.spool);
	help_flip(help_segment(&h, 1, O_RDWR), offset + 8);
	help_open(&h);
	help_is_gap(&h, s, 2, 2, WIRE_GAP_DAMAGED);
	help_is(&h, s, 5, 5);
	help_fill(&h, s, 0, 4, 9000);
	for (int round = 0; round < 2; round++) {
		help_reopen(&h);
		assert_int_equal(spool_next_seq(h.spool, s), 10);
		for (uint64_t i = 3; i <= 9; i++)
			help_is(&h, s, i, i);
	}
	assert_int_equal(help_count(&h, "quarantine"), 1);
	help_end(&h);
}

static void
a_segment_without_header_is_a_gap_too(void **state)
{
	struct help h;
	uint32_t s = help_filled(&h, 20), offset;
	uint64_t number = help_find(&h, s, 9, &offset);

	(void)state;
	spool_close(&h.spool);
	help_flip(help_segment(&h, number, O_RDWR), 33);
	help_open(&h);
	help_is(&h, s, 6, 6);
	help_is_gap(&h, s, 7, 12, WIRE_GAP_DAMAGED);
	help_is(&h, s, 13, 13);
	assert_int_equal(spool_next_seq(h.spool, s), 21);
	assert_int_equal(help_count(&h, "quarantine"), 1);
	help_reopen(&h);
	help_is_gap(&h, s, 7, 12, WIRE_GAP_DAMAGED);
	assert_int_equal(spool_next_seq(h.spool, s), 21);
	help_end(&h);
}

static void
numbers_that_may_have_been_seen_are_not_given_again(void **state)
{
	struct help h;
	struct spool_batch b;
	uint32_t s = help_filled(&h, 20), offset;
	uint64_t number = help_find(&h, s, 20, &offset), next;

	(void)state;
	spool_close(&h.spool);
	help_flip(help_segment(&h, number, O_RDWR), 33);
	help_open(&h);
	help_is(&h, s, 18, 18);
	assert_int_equal(spool_read(h.spool, s, 19, &b, &h.err), 1);
	assert_int_equal(b.reason, WIRE_GAP_DAMAGED);
	next = b.last_seq + 1;
	assert_true(next >= 21 && next < 21 + (64 << 10) / 56);
	assert_int_equal(spool_next_seq(h.spool, s), next);
	help_fill(&h, s, 0, 1, 10);
	help_reopen(&h);
	assert_int_equal(spool_next_seq(h.spool, s), next + 1);
	help_is(&h, s, next, next);
	help_is_gap(&h, s, 19, next - 1, WIRE_GAP_DAMAGED);
	assert_true(spool_chain(h.spool, s, next) != 0);
	help_end(&h);
}

static void
missing_segments_were_acknowledged_or_are_a_gap(void **state)
{
	struct help h;
	uint32_t s = help_filled(&h, 30);
	char path[160], name[SPOOL_NAME_BYTES];

	(void)state;
	spool_acked(h.spool, s, 10);
	assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
	spool_close(&h.spool);
	snprintf(
	    path, sizeof(path), "%s/%s", h.dir, spool_segment_name(name, 2));
	assert_int_equal(unlink(path), 0);
	help_open(&h);
	assert_int_equal(spool_first_unacked(h.spool, s), 11);
	help_is_gap(&h, s, 11, 12, WIRE_GAP_DAMAGED);
	help_is(&h, s, 13, 13);
	assert_int_equal(spool_counters(h.spool)->gaps, 1);
	help_end(&h);
}

/* ---- anything at all ---- */

static void
spoil(struct help *h, uint64_t *random)
{
	static const char *const names[] = { "META", "META.tmp", "ACKED" };
	char name[SPOOL_NAME_BYTES], junk[700];
	uint64_t what = check_random(random);
	uint64_t *numbers;
	uint32_t count;
	struct stat st;
	int dir = open(h->dir, O_RDONLY | O_DIRECTORY), fd;

	assert_int_equal(spool_list(dir, &numbers, &count), 0);
	if (what % 8 == 0 || count == 0)
		strcpy(name, names[what / 8 % 3]);
	else
		spool_segment_name(name, numbers[what / 8 % count]);
	free(numbers);
	fd = openat(dir, name, O_RDWR | O_CREAT, 0600);
	close(dir);
	if (fd < 0 || fstat(fd, &st) != 0)
		return;
	for (size_t i = 0; i < sizeof(junk); i++)
		junk[i] = (char)check_random(random);
	what = check_random(random);
	if (what % 16 == 0 && ftruncate(fd, (off_t)(what / 16 % 70000)) != 0)
		abort();
	else if (what % 16 < 8)
		memset(junk, what % 16 < 4 ? 0 : 0xff, sizeof(junk));
	if (what % 16 != 0 &&
	    pwrite(fd, junk, 1 + what / 16 % sizeof(junk),
		(off_t)(check_random(random) % (uint64_t)(st.st_size + 1))) < 0)
		abort();
	close(fd);
}

static void
whatever_the_directory_holds_it_opens_and_goes_on(void **state)
{
	uint64_t random = check_seed();

	(void)state;
	for (int round = 0; round < 60; round++) {
		struct help h;
		uint32_t s = help_filled(&h, 30);

		spool_acked(h.spool, s, check_random(&random) % 30);
		assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
		for (int turn = 0; turn < 3; turn++) {
			uint64_t seq, next;
			struct spool_batch b;

			spool_close(&h.spool);
			for (int i = 0; i < 3; i++)
				spoil(&h, &random);
			help_open(&h);
			s = help_stream(&h, "acct$pool");
			next = spool_next_seq(h.spool, s);
			/* Readable, or gap, or acknowledged. */
			seq = spool_first_unacked(h.spool, s);
			while (seq < next) {
				assert_int_equal(
				    spool_read(h.spool, s, seq, &b, &h.err), 1);
				if (b.reason == 0 && seq <= 30 && turn == 0 &&
				    spool_start_count(h.spool) > 1)
					help_is(&h, s, seq, seq);
				seq = b.last_seq + 1;
			}
			help_fill(&h, s, 1000, 3, 5000);
			help_is(&h, s, next, 1000 + next);
		}
		help_end(&h);
	}
}

static void
a_directory_that_cannot_be_read_to_its_end_is_not_taken_for_empty(void **state)
{
	struct help h;
	uint32_t s = help_filled(&h, 20);

	(void)state;
	spool_close(&h.spool);
	for (entries_left = 0; entries_left <= 3;) {
		int left = entries_left;

		assert_int_equal(
		    spool_open(&h.spool, h.dir, &h.options, &h.err), -1);
		assert_non_null(strstr(h.err.text, strerror(EIO)));
		entries_left = left + 1;
	}
	entries_left = INT32_MAX;
	help_open(&h);
	assert_int_equal(spool_next_seq(h.spool, s), 21);
	for (uint64_t i = 1; i <= 20; i++)
		help_is(&h, s, i, i);
	help_end(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_torn_tail_is_cut_off),
		cmocka_unit_test(
		    a_torn_commit_is_cut_off_whole_from_its_first_bad_frame),
		cmocka_unit_test(a_frame_of_a_reused_block_stays_dead),
		cmocka_unit_test(
		    a_damaged_batch_becomes_a_gap_and_the_others_stay),
		cmocka_unit_test(damage_in_the_last_segment_is_no_torn_tail),
		cmocka_unit_test(a_segment_without_header_is_a_gap_too),
		cmocka_unit_test(
		    numbers_that_may_have_been_seen_are_not_given_again),
		cmocka_unit_test(
		    missing_segments_were_acknowledged_or_are_a_gap),
		cmocka_unit_test(
		    whatever_the_directory_holds_it_opens_and_goes_on),
		cmocka_unit_test(
		    a_directory_that_cannot_be_read_to_its_end_is_not_taken_for_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
