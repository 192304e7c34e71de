/*
 * spool_ends - tests: whatever becomes of the segment of an earlier session,
 * each batch that was accepted is sent or is in a gap, exactly once.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/agents/spool/spool_help.h"

#include "proto/wire/wire.h"

enum { SESSIONS = 3, PARTITIONS = 2 };

static const char *const partitions[PARTITIONS] = { "acct$pool", "acct$two" };

struct world {
	struct help h;
	struct session_id session[SESSIONS];
	uint64_t accepted[SESSIONS][PARTITIONS];
};

/* A command; $D is the directory. */
static void
shell(const struct world *w, const char *command)
{
	assert_int_equal(setenv("D", w->h.dir, 1), 0);
	assert_int_equal(system(command), 0);
}

/* Three starts of an agent without an aggregator; a copy stays in DIR.copy. */
static void
begin(struct world *w)
{
	*w = (struct world){ .session = { { { 0 } } } };
	help_begin(&w->h);
	help_open(&w->h);
	for (int i = 0; i < SESSIONS; i++) {
		w->session[i] = *spool_session(w->h.spool);
		for (int p = 0; p < PARTITIONS; p++) {
			w->accepted[i][p] = 4 + (uint64_t)i + 3 * (uint64_t)p;
			help_fill(&w->h, help_stream(&w->h, partitions[p]),
			    100 * (uint64_t)i, (int)w->accepted[i][p], 40);
		}
		help_reopen(&w->h);
	}
	spool_close(&w->h.spool);
	shell(w, "cp -r $D $D.copy");
}

static void
again(struct world *w)
{
	shell(w, "rm -rf $D && cp -r $D.copy $D");
}

static void
end(struct world *w)
{
	shell(w, "rm -rf $D.copy");
	help_end(&w->h);
}

/* Walk over a stream as the sender does: the numbers that it sends, and those
 * that it reports as lost. */
static void
count(struct world *w, uint32_t stream, uint64_t base, uint64_t *sent,
    uint64_t *lost)
{
	uint64_t seq = spool_first_unacked(w->h.spool, stream);
	struct spool_batch b;

	*sent = *lost = 0;
	while (spool_read(w->h.spool, stream, seq, &b, &w->h.err) == 1) {
		if (b.reason == 0) {
			help_is(&w->h, stream, seq, base + seq);
			++*sent;
		} else {
			assert_int_equal(b.reason, WIRE_GAP_DAMAGED);
			*lost += b.last_seq - b.seq + 1;
		}
		seq = b.last_seq + 1;
	}
}

/* Of the sessions that another one follows.  Returns what was lost. */
static uint64_t
adds_up(struct world *w)
{
	uint64_t sent, lost, all = 0;

	for (int i = 0; i < SESSIONS - 1; i++) {
		for (int p = 0; p < PARTITIONS; p++) {
			uint32_t s =
			    help_earlier(&w->h, &w->session[i], partitions[p]);

			assert_int_not_equal(s, UINT32_MAX);
			count(w, s, 100 * (uint64_t)i, &sent, &lost);
			assert_int_equal(sent + lost, w->accepted[i][p]);
			all += lost;
		}
	}
	return all;
}

static uint32_t
size_of(struct world *w, uint64_t number)
{
	struct stat st;
	int fd = help_segment(&w->h, number, O_RDONLY);

	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	return (uint32_t)st.st_size;
}

/* Each start finds the same. */
static uint64_t
opened_twice(struct world *w)
{
	uint64_t lost;

	help_open(&w->h);
	lost = adds_up(w);
	help_reopen(&w->h);
	assert_int_equal(adds_up(w), lost);
	spool_close(&w->h.spool);
	return lost;
}

static void
one_damaged_byte_of_the_header_loses_nothing_and_is_told(void **state)
{
	struct world w;

	begin(&w);
	for (off_t byte = 0; byte < 64; byte++) {
		for (int copy = 0; copy < (byte % 16 == 0 ? 2 : 1); copy++) {
			again(&w);
			help_flip(
			    help_segment(&w.h, 2, O_RDWR), byte + 512 * copy);
			help_open(&w.h);
			assert_int_equal(adds_up(&w), 0);
			assert_int_equal(
			    spool_counters(w.h.spool)->quarantined, 1);
			spool_close(&w.h.spool);
		}
	}
	end(&w);
}

static void
any_damaged_byte_adds_up(void **state)
{
	struct world w;
	uint32_t size;

	begin(&w);
	size = size_of(&w, 2);
	for (uint32_t byte = 64; byte < size; byte += 17) {
		again(&w);
		help_flip(help_segment(&w.h, 2, O_RDWR), byte);
		opened_twice(&w);
	}
	end(&w);
}

static void
any_cut_adds_up(void **state)
{
	struct world w;
	uint32_t size;
	uint64_t before = UINT64_MAX;

	begin(&w);
	size = size_of(&w, 2);
	for (uint32_t cut = 0; cut <= size; cut += cut < 640 ? 64 : 23) {
		uint64_t lost;
		int fd;

		again(&w);
		fd = help_segment(&w.h, 2, O_RDWR);
		assert_int_equal(ftruncate(fd, cut), 0);
		close(fd);
		lost = opened_twice(&w);
		assert_true(lost <= before);
		if (cut <= SPOOL_HEAD_BYTES)
			assert_int_equal(
			    lost, w.accepted[1][0] + w.accepted[1][1]);
		before = lost;
	}
	assert_true(before <= 1);
	end(&w);
}

/* Both headers, a block of zeros, the whole file. */
static void
a_segment_that_is_gone_adds_up(void **state)
{
	struct world w;

	for (int how = 0; how < 3; how++) {
		static const char zeros[4096];
		uint64_t all;

		begin(&w);
		all = w.accepted[1][0] + w.accepted[1][1];
		if (how == 0)
			help_lose_head(&w.h, 2);
		else if (how == 1)
			assert_int_equal(pwrite(help_segment(&w.h, 2, O_RDWR),
					     zeros, size_of(&w, 2), 0),
			    size_of(&w, 2));
		else
			shell(&w, "rm $D/00000000000000000002.seg");
		assert_int_equal(opened_twice(&w), all);
		/* A session later, and until the gap is acknowledged. */
		help_open(&w.h);
		if (how == 0) {
			assert_int_equal(help_count(&w.h, "quarantine"), 1);
			assert_int_equal(help_count(&w.h, "."), 2);
		}
		help_fill(&w.h, help_stream(&w.h, partitions[0]), 700, 1, 40);
		help_reopen(&w.h);
		assert_int_equal(adds_up(&w), all);
		for (uint32_t i = 0; i < spool_streams(w.h.spool); i++)
			if (spool_partition(w.h.spool, i).at != NULL)
				spool_acked(w.h.spool, i, 1000);
		assert_int_equal(spool_tidy(w.h.spool, 1, &w.h.err), 0);
		help_reopen(&w.h);
		assert_int_equal(spool_counters(w.h.spool)->unacked_batches, 0);
		assert_int_equal(spool_counters(w.h.spool)->gaps, 0);
		assert_int_equal(spool_streams(w.h.spool), 0);
		end(&w);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    one_damaged_byte_of_the_header_loses_nothing_and_is_told),
		cmocka_unit_test(any_damaged_byte_adds_up),
		cmocka_unit_test(any_cut_adds_up),
		cmocka_unit_test(a_segment_that_is_gone_adds_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
