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

/* Open the spool again: the stream of an earlier session. */
static uint32_t
reopen_earlier(struct help *h, const struct session_id *session)
{
	help_reopen(h);
	return help_earlier(h, session, "acct$pool");
}

static void
a_torn_tail_is_cut_off(void **state)
{
	struct session_id session;
	struct help h;
	uint32_t s = help_filled(&h, 4), end;
	struct stat st;
	int fd;

	end = h.spool->active->end;
	session = *spool_session(h.spool);
	spool_close(&h.spool);
	fd = help_segment(&h, 1, O_RDWR);
	/* The beginning of a frame, and sectors from further behind. */
	assert_int_equal(pwrite(fd, "PSFR\200\1\0\0abcd\1", 13, end), 13);
	assert_int_equal(pwrite(fd, "tail", 4, end + 2048), 4);
	s = reopen_earlier(&h, &session);
	assert_int_equal(spool_next_seq(h.spool, s), 5);
	assert_int_equal(spool_counters(h.spool)->torn_bytes, 2052);
	assert_int_equal(spool_counters(h.spool)->quarantined, 0);
	assert_int_equal(spool_counters(h.spool)->bytes, end);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, end);
	close(fd);
	help_fill(&h, help_stream(&h, "acct$pool"), 10, 2, 100);
	help_reopen(&h);
	assert_int_equal(spool_counters(h.spool)->torn_bytes, 0);
	for (uint64_t i = 1; i <= 4; i++)
		help_is(&h, s, i, i);
	assert_int_equal(spool_counters(h.spool)->unacked_batches, 6);
	help_end(&h);
}

static void
a_torn_commit_is_cut_off_whole_from_its_first_bad_frame(void **state)
{
	struct session_id session;
	struct help h;
	uint32_t s = help_filled(&h, 1), offset;
	uint64_t seq;

	for (uint64_t i = 2; i <= 5; i++)
		help_put(&h, s, i, 3000, true, &seq);
	help_commit(&h);
	help_find(&h, s, 3, &offset);
	session = *spool_session(h.spool);
	spool_close(&h.spool);
	help_flip(help_segment(&h, 1, O_RDWR), offset + 500);
	s = reopen_earlier(&h, &session);
	assert_int_equal(spool_next_seq(h.spool, s), 3);
	assert_int_equal(spool_counters(h.spool)->quarantined, 0);
	assert_int_equal(spool_counters(h.spool)->gaps, 0);
	help_is(&h, s, 2, 2);
	help_end(&h);
}

static void
a_frame_of_a_reused_block_stays_dead(void **state)
{
	static unsigned char frame[200];
	struct spool_frame f = {
		.type = SPOOL_BATCH, .bytes = 100, .seq = 5, .last_seq = 5
	};

	/* Whole, with the right number and in the right place, but written
	 * for another segment; and then, to be sure, for this one. */
	for (int own = 0; own < 2; own++) {
		struct session_id session;
		struct help h;
		uint32_t s = help_filled(&h, 4), end = h.spool->active->end;
		uint64_t salt = h.spool->active->salt;
		int fd;

		session = *spool_session(h.spool);
		spool_close(&h.spool);
		spool_put_frame(
		    frame, own ? salt : salt + 1, &f, help_body(5, 100).at);
		fd = help_segment(&h, 1, O_RDWR);
		assert_int_equal(pwrite(fd, frame, 160, end), 160);
		close(fd);
		s = reopen_earlier(&h, &session);
		assert_int_equal(spool_next_seq(h.spool, s), own ? 6 : 5);
		help_end(&h);
	}
}

/* ---- damage ---- */

static void
a_damaged_batch_becomes_a_gap_and_the_others_stay(void **state)
{
	struct session_id session;
	struct spool_batch b, behind;
	struct help h;
	uint32_t s = help_filled(&h, 20), offset;
	uint64_t number = help_find(&h, s, 9, &offset);

	session = *spool_session(h.spool);
	spool_close(&h.spool);
	help_flip(help_segment(&h, number, O_RDWR), offset + 77);
	for (int round = 0; round < 3; round++) {
		s = reopen_earlier(&h, &session);
		/* Found again by each start; the copy is made once. */
		assert_int_equal(
		    spool_counters(h.spool)->quarantined, round == 0);
		assert_int_equal(spool_counters(h.spool)->gaps, 1);
		assert_int_equal(spool_next_seq(h.spool, s), 21);
		for (uint64_t i = 1; i <= 20; i++)
			if (i != 9)
				help_is(&h, s, i, i);
		help_is_gap(&h, s, 9, 9, WIRE_GAP_DAMAGED);
		assert_int_equal(spool_read(h.spool, s, 9, &b, &h.err), 1);
		assert_int_equal(
		    spool_read(h.spool, s, 10, &behind, &h.err), 1);
		assert_true(b.chain_after != 0);
		assert_true(b.chain_after == behind.chain);
		assert_int_equal(help_count(&h, "quarantine"), 1);
		assert_int_equal(spool_counters(h.spool)->unacked_batches, 20);
	}
	help_end(&h);
}

static void
damage_in_the_last_segment_is_no_torn_tail(void **state)
{
	struct session_id session;
	struct help h;
	uint32_t s = help_filled(&h, 5), offset;

	help_find(&h, s, 2, &offset);
	session = *spool_session(h.spool);
	spool_close(&h.spool);
	help_flip(help_segment(&h, 1, O_RDWR), offset + 8);
	for (int round = 0; round < 2; round++) {
		help_open(&h);
		s = help_earlier(&h, &session, "acct$pool");
		help_is_gap(&h, s, 2, 2, WIRE_GAP_DAMAGED);
		for (uint64_t i = 3; i <= 5; i++)
			help_is(&h, s, i, i);
		help_fill(&h, help_stream(&h, "acct$pool"), 0, 4, 9000);
		spool_close(&h.spool);
	}
	assert_int_equal(help_count(&h, "quarantine"), 1);
	help_end(&h);
}

static void
a_segment_without_header_is_a_gap_too(void **state)
{
	struct session_id session;
	struct help h;
	uint32_t s = help_filled(&h, 20), offset;
	uint64_t number = help_find(&h, s, 9, &offset);

	session = *spool_session(h.spool);
	spool_close(&h.spool);
	help_lose_head(&h, number);
	for (int round = 0; round < 2; round++) {
		help_open(&h);
		s = help_earlier(&h, &session, "acct$pool");
		help_is(&h, s, 7, 7);
		help_is_gap(&h, s, 8, 14, WIRE_GAP_DAMAGED);
		help_is(&h, s, 15, 15);
		/* It may have had more than the hole says. */
		assert_true(spool_next_seq(h.spool, s) >= 21);
		spool_close(&h.spool);
	}
	help_end(&h);
}

/* What was lost at the end cannot be counted: the gap is as long as it may
 * be. */
static void
the_gap_at_the_end_of_a_damaged_session_is_long_enough(void **state)
{
	struct session_id session;
	struct help h;
	struct spool_batch b;
	uint32_t s = help_filled(&h, 20), offset;
	uint64_t number = help_find(&h, s, 20, &offset), next;

	session = *spool_session(h.spool);
	spool_close(&h.spool);
	help_lose_head(&h, number);
	help_open(&h);
	s = help_earlier(&h, &session, "acct$pool");
	help_is(&h, s, 14, 14);
	assert_int_equal(spool_read(h.spool, s, 15, &b, &h.err), 1);
	assert_int_equal(b.reason, WIRE_GAP_DAMAGED);
	assert_int_equal(b.chain_after, 0);
	next = b.last_seq + 1;
	assert_true(next >= 21 && next < 21 + (64 << 10) / 56);
	assert_int_equal(spool_next_seq(h.spool, s), next);
	/* Each start finds the same, also with another session behind it. */
	help_fill(&h, help_stream(&h, "acct$pool"), 0, 1, 10);
	help_reopen(&h);
	s = help_earlier(&h, &session, "acct$pool");
	assert_int_equal(spool_next_seq(h.spool, s), next);
	help_is_gap(&h, s, 15, next - 1, WIRE_GAP_DAMAGED);
	/* When it is acknowledged it is settled. */
	spool_acked(h.spool, s, next - 1);
	assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
	help_reopen(&h);
	assert_int_equal(spool_counters(h.spool)->unacked_batches, 1);
	assert_int_equal(spool_counters(h.spool)->gaps, 0);
	help_end(&h);
}

/* Where a seal counts the frames, the holes between them say it all. */
static void
a_damaged_segment_in_the_middle_makes_no_gap_at_the_end(void **state)
{
	struct session_id session;
	struct help h;
	uint32_t s = help_filled(&h, 20), offset;
	uint64_t number = help_find(&h, s, 3, &offset);

	session = *spool_session(h.spool);
	spool_close(&h.spool);
	help_flip(help_segment(&h, number, O_RDWR), offset + 77);
	help_open(&h);
	s = help_earlier(&h, &session, "acct$pool");
	help_is_gap(&h, s, 3, 3, WIRE_GAP_DAMAGED);
	assert_int_equal(spool_next_seq(h.spool, s), 21);
	assert_int_equal(spool_counters(h.spool)->gaps, 1);
	help_end(&h);
}

static void
damage_of_one_session_is_none_of_the_next(void **state)
{
	struct session_id first, second;
	struct help h;
	uint32_t s = help_filled(&h, 5), t, offset;

	first = *spool_session(h.spool);
	help_find(&h, s, 5, &offset);
	help_reopen(&h);
	second = *spool_session(h.spool);
	help_fill(&h, help_stream(&h, "acct$pool"), 50, 3, 100);
	spool_close(&h.spool);
	/* All of the first one's segment, and so all that names it. */
	help_lose_head(&h, 1);
	help_open(&h);
	/* The second one says what it was. */
	s = help_earlier(&h, &first, "acct$pool");
	assert_int_equal(spool_next_seq(h.spool, s), 6);
	help_is_gap(&h, s, 1, 5, WIRE_GAP_DAMAGED);
	t = help_earlier(&h, &second, "acct$pool");
	assert_int_equal(spool_next_seq(h.spool, t), 4);
	for (uint64_t i = 1; i <= 3; i++)
		help_is(&h, t, i, 50 + i);
	help_end(&h);
}

static void
missing_segments_were_acknowledged_or_are_a_gap(void **state)
{
	struct session_id session;
	struct help h;
	uint32_t s = help_filled(&h, 30);
	char path[160], name[SPOOL_NAME_BYTES];

	session = *spool_session(h.spool);
	spool_acked(h.spool, s, 11);
	assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
	spool_close(&h.spool);
	snprintf(
	    path, sizeof(path), "%s/%s", h.dir, spool_segment_name(name, 2));
	assert_int_equal(unlink(path), 0);
	help_open(&h);
	s = help_earlier(&h, &session, "acct$pool");
	assert_int_equal(spool_first_unacked(h.spool, s), 12);
	help_is_gap(&h, s, 12, 14, WIRE_GAP_DAMAGED);
	help_is(&h, s, 15, 15);
	help_is_gap(&h, s, 5, 11, WIRE_GAP_RESTORED);
	assert_int_equal(spool_counters(h.spool)->gaps, 1);
	assert_int_equal(spool_counters(h.spool)->unacked_batches, 17);
	help_end(&h);
}

/* ---- names ---- */

static void
another_segment_of_the_session_has_the_name_too(void **state)
{
	struct session_id session;
	struct help h;
	uint32_t s = help_filled(&h, 20);

	session = *spool_session(h.spool);
	spool_close(&h.spool);
	/* The first frame of the first segment. */
	help_flip(help_segment(&h, 1, O_RDWR), SPOOL_HEAD_BYTES + 60);
	help_open(&h);
	s = help_earlier(&h, &session, "acct$pool");
	for (uint64_t i = 1; i <= 20; i++)
		help_is(&h, s, i, i);
	assert_int_equal(spool_counters(h.spool)->quarantined, 1);
	help_end(&h);
}

/* A batch of nobody knows which partition may have been of each: they get a
 * gap at their ends. */
static void
a_lost_name_is_a_gap_of_the_other_streams(void **state)
{
	struct session_id session;
	struct help h;
	uint32_t s, offset;
	struct spool_batch b;

	help_begin(&h);
	help_open(&h);
	session = *spool_session(h.spool);
	s = help_stream(&h, "known$a");
	help_fill(&h, s, 0, 3, 100);
	help_find(&h, s, 3, &offset);
	help_fill(&h, help_stream(&h, "lost$b"), 50, 4, 100);
	spool_close(&h.spool);
	help_flip(
	    help_segment(&h, 1, O_RDWR), (off_t)offset + spool_span(100) + 60);
	help_open(&h);
	assert_int_equal(help_earlier(&h, &session, "lost$b"), UINT32_MAX);
	s = help_earlier(&h, &session, "known$a");
	for (uint64_t i = 1; i <= 3; i++)
		help_is(&h, s, i, i);
	assert_int_equal(spool_read(h.spool, s, 4, &b, &h.err), 1);
	assert_int_equal(b.reason, WIRE_GAP_DAMAGED);
	assert_true(b.last_seq >= 7 && b.last_seq < 12);
	assert_int_equal(help_count(&h, "quarantine"), 1);
	help_end(&h);
}

/* ---- anything at all ---- */

static void
spoil(struct help *h, uint64_t *random)
{
	static const char *const names[] = { "ACKED", "LOCK" };
	char name[SPOOL_NAME_BYTES], junk[700];
	uint64_t what = check_random(random);
	uint64_t *numbers;
	uint32_t count;
	struct stat st;
	int dir = open(h->dir, O_RDONLY | O_DIRECTORY), fd;

	assert_int_equal(spool_list(dir, &numbers, &count), 0);
	if (what % 8 == 0 || count == 0)
		strcpy(name, names[what / 8 % 2]);
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

/* Readable, or gap, or acknowledged, to its end; then nothing. */
static void
read_to_the_end(struct help *h, uint32_t stream, bool is_ours)
{
	uint64_t seq = spool_first_unacked(h->spool, stream);
	struct spool_batch b;

	while (seq < spool_next_seq(h->spool, stream)) {
		assert_int_equal(
		    spool_read(h->spool, stream, seq, &b, &h->err), 1);
		if (b.reason == 0 && is_ours)
			help_is(h, stream, seq, seq);
		assert_true(b.seq == seq && b.last_seq >= seq);
		seq = b.last_seq + 1;
	}
	assert_int_equal(spool_read(h->spool, stream, seq, &b, &h->err), 0);
}

static void
whatever_the_directory_holds_it_opens_and_goes_on(void **state)
{
	uint64_t random = check_seed();

	for (int round = 0; round < 60; round++) {
		struct session_id session;
		struct help h;
		uint32_t s = help_filled(&h, 30);

		session = *spool_session(h.spool);
		spool_acked(h.spool, s, check_random(&random) % 30);
		assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
		for (int turn = 0; turn < 3; turn++) {
			spool_close(&h.spool);
			for (int i = 0; i < 3; i++)
				spoil(&h, &random);
			if (spool_open(&h.spool, h.dir, &h.options, &h.err) !=
			    0)
				fail_msg("%s", h.err.text);
			for (uint32_t i = 0; i < spool_streams(h.spool); i++)
				if (spool_partition(h.spool, i).at != NULL)
					read_to_the_end(&h, i,
					    i == help_earlier(&h, &session,
						     "acct$pool"));
			s = help_stream(&h, "acct$pool");
			assert_int_equal(spool_next_seq(h.spool, s), 1);
			help_fill(&h, s, 1000, 3, 5000);
			help_is(&h, s, 1, 1001);
		}
		help_end(&h);
	}
}

static void
a_directory_that_cannot_be_read_to_its_end_is_not_taken_for_empty(void **state)
{
	struct session_id session;
	struct help h;
	uint32_t s = help_filled(&h, 20);

	session = *spool_session(h.spool);
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
	s = help_earlier(&h, &session, "acct$pool");
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
		    the_gap_at_the_end_of_a_damaged_session_is_long_enough),
		cmocka_unit_test(
		    a_damaged_segment_in_the_middle_makes_no_gap_at_the_end),
		cmocka_unit_test(damage_of_one_session_is_none_of_the_next),
		cmocka_unit_test(
		    missing_segments_were_acknowledged_or_are_a_gap),
		cmocka_unit_test(
		    another_segment_of_the_session_has_the_name_too),
		cmocka_unit_test(a_lost_name_is_a_gap_of_the_other_streams),
		cmocka_unit_test(
		    whatever_the_directory_holds_it_opens_and_goes_on),
		cmocka_unit_test(
		    a_directory_that_cannot_be_read_to_its_end_is_not_taken_for_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
