/*
 * import_batches, import_file - the same batches every time; lines of any
 * length.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/batches.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "agents/delivery/unacked.h"
#include "proto/hash/crc32c.h"
#include "proto/hash/hash.h"
#include "proto/os/progress.h"

static const unsigned char digest[IMPORT_DIGEST_BYTES] = { 1 };

/* Row `n` of a made-up file: two partitions, five nodes. */
static void
add(struct import_batches *pack, uint32_t n)
{
	static char name[32], node[32];
	struct import_row row = { .record = { .kind = RECORD_EVENT,
				      .has_time = true,
				      .time_ns = n } };
	struct err err;

	snprintf(name, sizeof(name), "event-%u", n);
	snprintf(node, sizeof(node), "node-%u", n / 7 % 5);
	row.partition = text_of(n % 3 == 0 ? "acct$a" : "acct$b");
	row.record.node = text_of(node);
	row.record.source = text_of("s");
	row.record.name = text_of(name);
	assert_int_equal(import_batches_add(pack, &row, 10, &err), 0);
}

static struct import_batches *
pack_of(uint32_t rows)
{
	struct import_batches *pack = import_batches_new(
	    IMPORT_CASCADE, (struct text){ NULL, 0 }, digest, true);

	for (uint32_t n = 0; n < rows; n++)
		add(pack, n);
	import_batches_end(pack);
	return pack;
}

/* All records of a stream, checked as an aggregator would. */
static uint32_t
count_records(struct import_batches *pack, uint32_t stream)
{
	struct wire_room room = { .at = NULL };
	struct sender_batch batch;
	uint64_t chain = 0;
	uint32_t records = 0;

	for (uint64_t seq = 1;
	     import_batches_read(pack, stream, seq, &batch) == 1; seq++) {
		struct wire_header header = { .type = WIRE_BATCH,
			.records = batch.records,
			.body_bytes = batch.body_bytes };
		struct text plain;

		assert_true(batch.chain == chain);
		assert_true(batch.body.bytes <= UNACKED_BODY_BYTES);
		assert_int_equal(
		    wire_body(&header, batch.body, &room, &plain), WIRE_OK);
		chain = hash_chain(chain,
		    crc32c(0, batch.body.at, batch.body.bytes),
		    batch.body.bytes, batch.records);
		records += batch.records;
	}
	return records;
}

static void
every_row_is_in_the_batches_of_its_partition(void **state)
{
	struct import_batches *pack = pack_of(10000);

	assert_int_equal(import_batches_streams(pack), 2);
	assert_int_equal(count_records(pack, 0), 3334);
	assert_int_equal(count_records(pack, 1), 6666);
	assert_int_equal(import_batches_counters(pack)->events, 10000);
	import_batches_free(&pack);
	assert_null(pack);
}

static void
every_record_is_of_its_node(void **state)
{
	struct import_batches *pack = pack_of(5000);
	struct wire_header header = { .type = WIRE_BATCH,
		.node = text_of("importer") };
	struct wire_cursor cursor;
	struct sender_batch batch;
	struct record record;

	for (uint64_t seq = 1; import_batches_read(pack, 1, seq, &batch) == 1;
	     seq++) {
		header.records = batch.records;
		wire_cursor_init(&cursor, &header, batch.body);
		while (wire_next(&cursor, &record)) {
			char node[32];

			snprintf(node, sizeof(node), "node-%d",
			    (int)(record.time_ns / 7 % 5));
			assert_true(text_equal(record.node, text_of(node)));
		}
	}
	import_batches_free(&pack);
}

static void
the_same_rows_are_the_same_batches(void **state)
{
	struct import_batches *a = pack_of(9000), *b = pack_of(9000);
	struct sender_batch of_a, of_b;

	assert_true(session_equal(
	    import_batches_session(a, 1), import_batches_session(b, 1)));
	assert_false(session_equal(
	    import_batches_session(a, 0), import_batches_session(a, 1)));
	for (uint64_t seq = 1; import_batches_read(a, 1, seq, &of_a) == 1;
	     seq++) {
		assert_int_equal(import_batches_read(b, 1, seq, &of_b), 1);
		assert_true(text_equal(of_a.body, of_b.body));
	}
	import_batches_free(&a);
	import_batches_free(&b);
}

static void
another_file_or_kind_is_another_session(void **state)
{
	static const unsigned char other[IMPORT_DIGEST_BYTES] = { 2 };
	struct text no = { NULL, 0 };
	struct import_batches *pack[3] = {
		import_batches_new(IMPORT_CASCADE, no, digest, true),
		import_batches_new(IMPORT_CASCADE, no, other, true),
		import_batches_new(IMPORT_EMITS, no, digest, true),
	};

	for (int i = 0; i < 3; i++)
		add(pack[i], 0);
	for (int i = 0; i < 3; i++) {
		assert_false(session_equal(import_batches_session(pack[i], 0),
		    import_batches_session(pack[(i + 1) % 3], 0)));
	}
	for (int i = 0; i < 3; i++)
		import_batches_free(&pack[i]);
}

/* Which of the records have a uuid; the last one's in `uuid`. */
static void
uuids_of(struct import_batches *pack, bool has[static 5], char uuid[static 16])
{
	struct wire_header header = { .type = WIRE_BATCH };
	struct wire_cursor cursor;
	struct sender_batch batch;
	struct record record;
	uint32_t n = 0;

	assert_int_equal(import_batches_read(pack, 0, 1, &batch), 1);
	header.records = batch.records;
	wire_cursor_init(&cursor, &header, batch.body);
	while (wire_next(&cursor, &record)) {
		assert_true(n < 5);
		has[n++] = record.key.bytes > 0;
		if (record.key.bytes > 0)
			memcpy(uuid, record.key.at, 16);
	}
	assert_int_equal(n, 5);
}

static void
equal_rows_differ_by_their_number(void **state)
{
	/* Rows 0, 3, 0, 0, 3: the third and later have a uuid. */
	static const bool wanted[5] = { false, false, true, true, true };
	static const uint32_t rows[5] = { 0, 3, 0, 0, 3 };
	struct import_batches *pack[2];
	char uuid[2][16], before[16];
	bool has[5];

	for (int i = 0; i < 2; i++) {
		pack[i] = import_batches_new(
		    IMPORT_CASCADE, (struct text){ NULL, 0 }, digest, true);
		for (int k = 0; k < 5; k++)
			add(pack[i], rows[k]);
		import_batches_end(pack[i]);
		uuids_of(pack[i], has, uuid[i]);
		assert_memory_equal(has, wanted, sizeof(wanted));
	}
	/* The same in every import, and after reading again. */
	assert_memory_equal(uuid[0], uuid[1], 16);
	memcpy(before, uuid[0], 16);
	import_batches_rewind(pack[0]);
	for (int k = 0; k < 5; k++)
		add(pack[0], rows[k]);
	import_batches_end(pack[0]);
	uuids_of(pack[0], has, uuid[0]);
	assert_memory_equal(has, wanted, sizeof(wanted));
	assert_memory_equal(uuid[0], before, 16);
	for (int i = 0; i < 2; i++)
		import_batches_free(&pack[i]);
}

static void
what_is_acknowledged_leaves_memory(void **state)
{
	struct import_batches *pack = import_batches_new(
	    IMPORT_CASCADE, (struct text){ NULL, 0 }, digest, true);
	struct sender_batch batch;
	uint32_t n = 0;

	while (!import_batches_is_full(pack))
		add(pack, n++);
	import_batches_sent(pack, 1, 1);
	import_batches_acked(pack, 1, 2);
	assert_false(import_batches_is_full(pack));
	assert_int_equal(import_batches_first(pack, 1), 3);
	assert_int_equal(import_batches_read(pack, 1, 2, &batch), -1);
	assert_int_equal(import_batches_read(pack, 1, 3, &batch), 1);
	/* Number 1 was sent now, number 2 was there before. */
	assert_true(import_batches_counters(pack)->already > 0);
	assert_true(import_batches_counters(pack)->already * 3 <
		    import_batches_counters(pack)->events_acked * 2);
	import_batches_free(&pack);
}

static void
after_a_rewind_the_same_batches_come_again(void **state)
{
	struct import_batches *pack = pack_of(9000);
	struct sender_batch batch;
	struct text body;
	uint64_t chain;

	assert_int_equal(import_batches_read(pack, 1, 3, &batch), 1);
	body = batch.body;
	body.at = memcpy(malloc(body.bytes), body.at, body.bytes);
	chain = batch.chain;
	import_batches_acked(pack, 1, 4);
	import_batches_rewind(pack);
	assert_int_equal(import_batches_read(pack, 1, 3, &batch), 0);
	for (uint32_t n = 0; n < 9000; n++)
		add(pack, n);
	import_batches_end(pack);
	assert_int_equal(import_batches_read(pack, 1, 1, &batch), 1);
	assert_int_equal(import_batches_read(pack, 1, 3, &batch), 1);
	assert_true(batch.chain == chain && text_equal(batch.body, body));
	assert_int_equal(import_batches_counters(pack)->events, 9000);
	free((void *)(uintptr_t)body.at);
	import_batches_free(&pack);
}

/* The aggregator's claim is compared, whether it comes before the rows are
 * packed or after.  It is right, or has another running hash, or none, or more
 * batches than there are. */
static void
what_the_aggregator_claims_is_compared(void **state)
{
	for (int early = 0; early < 2; early++)
		for (int wrong = 0; wrong < 4; wrong++) {
			struct import_batches *pack = pack_of(9000);
			struct session_id before;
			struct sender_batch batch;
			uint64_t chain, upto = 2;
			uint32_t other;

			assert_int_equal(
			    import_batches_read(pack, 1, 3, &batch), 1);
			chain = batch.chain;
			chain = wrong == 1 ? chain + 1 : wrong == 2 ? 0 : chain;
			if (wrong == 3)
				upto = 1000;
			if (early) {
				import_batches_rewind(pack);
				import_batches_claimed(pack, 1, upto, chain);
				import_batches_acked(pack, 1, upto);
				for (uint32_t n = 0; n < 9000; n++)
					add(pack, n);
				import_batches_end(pack);
			} else {
				import_batches_claimed(pack, 1, upto, chain);
			}
			assert_int_equal(
			    import_batches_is_other(pack, &other), wrong != 0);
			before = *import_batches_session(pack, 1);
			for (int i = 0; wrong != 0 && i < 64; i++) {
				assert_int_equal(other, 1);
				assert_true(
				    import_batches_rename(pack, other, false));
				assert_false(session_equal(
				    &before, import_batches_session(pack, 1)));
				before = *import_batches_session(pack, 1);
			}
			if (wrong != 0)
				assert_false(
				    import_batches_rename(pack, 1, false));
			assert_false(import_batches_is_other(pack, &other) &&
				     wrong != 0);
			import_batches_free(&pack);
		}
}

/* ---- lines -------------------------------------------------------------- */

static void
write_file(char path[static 32], const char *from, size_t bytes)
{
	int fd;

	strcpy(path, "/tmp/import-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	while (bytes > 0) {
		ssize_t n = write(fd, from, bytes);

		assert_true(n > 0);
		from += n;
		bytes -= (size_t)n;
	}
	close(fd);
}

static void
lines_are_given_with_their_numbers(void **state)
{
	struct import_file file;
	struct text line;
	struct err err;
	char path[32];

	write_file(path, "one\r\n\nthree\nlast", 16);
	assert_int_equal(import_file_open(&file, path, &err), 0);
	for (int pass = 0; pass < 2; pass++) {
		assert_int_equal(
		    import_file_next(&file, &line, &err), IMPORT_LINE);
		assert_true(text_equal(line, text_of("one")));
		assert_int_equal(
		    import_file_next(&file, &line, &err), IMPORT_LINE);
		assert_int_equal(line.bytes, 0);
		assert_int_equal(
		    import_file_next(&file, &line, &err), IMPORT_LINE);
		assert_int_equal(
		    import_file_next(&file, &line, &err), IMPORT_LINE);
		assert_true(text_equal(line, text_of("last")));
		assert_int_equal(file.line, 4);
		assert_int_equal(file.offset, 16);
		assert_int_equal(
		    import_file_next(&file, &line, &err), IMPORT_END);
		import_file_rewind(&file);
	}
	import_file_close(&file);
	unlink(path);
}

static void
a_line_over_the_limit_is_passed_over_whole(void **state)
{
	size_t lengths[] = { IMPORT_LINE_BYTES_MAX, IMPORT_LINE_BYTES_MAX + 1,
		3 * IMPORT_LINE_BYTES_MAX, 5 };
	struct import_file file;
	struct text line;
	struct err err;
	char path[32], *content = malloc(8 << 20), *p = content;

	for (int i = 0; i < 4; i++) {
		memset(p, 'a' + i, lengths[i]);
		p[lengths[i]] = '\n';
		p += lengths[i] + 1;
	}
	write_file(path, content, (size_t)(p - content));
	assert_int_equal(import_file_open(&file, path, &err), 0);
	for (int i = 0; i < 4; i++) {
		enum import_next next = import_file_next(&file, &line, &err);

		assert_int_equal(
		    next, i == 1 || i == 2 ? IMPORT_TOO_LONG : IMPORT_LINE);
		assert_int_equal(file.line, i + 1);
		if (next == IMPORT_LINE)
			assert_true(
			    line.bytes == lengths[i] && line.at[0] == 'a' + i);
	}
	assert_int_equal(import_file_next(&file, &line, &err), IMPORT_END);
	assert_int_equal(file.offset, p - content);
	import_file_close(&file);
	unlink(path);
	free(content);
}

static void
a_file_that_changes_meanwhile_is_not_trusted(void **state)
{
	struct import_file file;
	struct text line;
	struct err err;
	char path[32];

	write_file(path, "one\n", 4);
	assert_int_equal(import_file_open(&file, path, &err), 0);
	assert_int_equal(truncate(path, 2), 0);
	assert_int_equal(import_file_next(&file, &line, &err), IMPORT_FAILED);
	assert_non_null(strstr(err.text, "changed"));
	import_file_close(&file);
	unlink(path);
}

static void
the_bar_fits_a_terminal(void **state)
{
	static const char *const names[] = { "f", "\033[31m\n",
		"/a/very/long/path/that/does/not/fit/entities.jsonl",
		"\xff\xfe" };
	struct progress progress = { .total = 100,
		.rows = UINT64_C(123456789012),
		.now_ns = 1000000000 };
	char text[4 * PROGRESS_COLUMNS];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (progress.done = 0; progress.done <= 150; progress.done++) {
			progress_text(text, names[i], &progress);
			assert_true(strlen(text) < PROGRESS_COLUMNS);
			for (char *c = text; *c != '\0'; c++)
				assert_in_range(*c, ' ', '~');
		}
	assert_non_null(strstr(text, "100 %"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_in_the_batches_of_its_partition),
		cmocka_unit_test(every_record_is_of_its_node),
		cmocka_unit_test(the_same_rows_are_the_same_batches),
		cmocka_unit_test(another_file_or_kind_is_another_session),
		cmocka_unit_test(equal_rows_differ_by_their_number),
		cmocka_unit_test(what_is_acknowledged_leaves_memory),
		cmocka_unit_test(after_a_rewind_the_same_batches_come_again),
		cmocka_unit_test(what_the_aggregator_claims_is_compared),
		cmocka_unit_test(lines_are_given_with_their_numbers),
		cmocka_unit_test(a_line_over_the_limit_is_passed_over_whole),
		cmocka_unit_test(a_file_that_changes_meanwhile_is_not_trusted),
		cmocka_unit_test(the_bar_fits_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
