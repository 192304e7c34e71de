/*
 * rejected_batch - tests of what is stored of a batch that cannot be indexed:
 * through a journal, an indexer and a reader.  Hashes are those of
 * sha256sum(1).
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/aggregator/rig.h"

#include <string.h>

#include "aggregator/indexer/rejected_batch.h"
#include "aggregator/tables/row_block.h"

/* 15 and 3 bytes that are not records. */
#define WORDS "\xc1 what is this?"
#define WORDS_IS                                                               \
	"b6e91a7725f1f665c138a42cd2cd3a9e37315eeb130154b8c17088ec8c49e674"
#define SHORT "\xc1 ?"

static struct rig rig;

static void
send(const char *bytes, size_t count)
{
	memcpy(rig.bytes, bytes, count);
	rig.batch.bytes = count;
	rig.batch.records = 1;
	rig_send(&rig, 0);
}

static void
send_words(unsigned times)
{
	while (times-- > 0)
		send(WORDS, strlen(WORDS));
	rig_indexer(&rig);
	rig_verify(&rig);
}

static void
open_again(uint64_t rejected_bytes)
{
	writer_close(&rig.writer);
	rig.options.rejected_bytes = rejected_bytes;
	rig_open_indexer(&rig);
}

/* A count of the partition, from its status. */
static uint64_t
counted(const char *name)
{
	uint64_t records, number;
	char word[64], *all, *at;

	all = rig_read(&rig, RIG_STATUS, rig_query(0, 0), &records);
	at = strstr(all, "partition:" RIG_PARTITION);
	assert_non_null(at);
	snprintf(word, sizeof(word), " %s=", name);
	at = strstr(at, word);
	assert_non_null(at);
	number = strtoull(at + strlen(word), NULL, 10);
	free(all);
	return number;
}

static void
expect(uint64_t records, uint64_t bytes, uint64_t cut)
{
	assert_int_equal(counted("records_rejected"), records);
	assert_int_equal(counted("rejected_bytes"), bytes);
	assert_int_equal(counted("rejected_cut"), cut);
}

static void
beyond_the_limit_only_length_and_hash_are_stored(void **state)
{
	rig_open(&rig, NULL);
	open_again(40);
	send_words(3);
	expect(3, 30, 1);
	assert_lines(rig_all(&rig, RECORD_REJECTED),
	    "rejected head s0.1.0 1508000000000000001 [|record|" WORDS_IS
	    "] 15\n"
	    "rejected head s0.2.0 1508000000000000002 [|record|" WORDS_IS
	    "] 15\n"
	    "rejected head s0.3.0 1508000000000000003 [|record|" WORDS_IS
	    "] 15\n");
	/* A body that still fits is stored. */
	send(SHORT, strlen(SHORT));
	send_words(1);
	expect(5, 33, 2);
	rig_close(&rig);
}

static void
the_limit_outlives_the_process(void **state)
{
	rig_open(&rig, NULL);
	open_again(40);
	send_words(2);
	open_again(40);
	send_words(1);
	expect(3, 30, 1);
	open_again(60);
	send_words(3);
	expect(6, 60, 2);
	open_again(0);
	send_words(2);
	expect(8, 90, 2);
	rig_close(&rig);
}

static void
valid_batches_do_not_count(void **state)
{
	rig_open(&rig, NULL);
	open_again(1);
	for (int i = 0; i < 20; i++) {
		send(WORDS, strlen(WORDS));
		rig_event(&rig, "n", RIG_T0 + i, "test", "event", NULL);
		rig_send(&rig, 1);
	}
	rig_indexer(&rig);
	rig_verify(&rig);
	expect(20, 0, 20);
	assert_int_equal(counted("records_event"), 20);
	rig_close(&rig);
}

static void
retention_frees_space_for_new_ones(void **state)
{
	struct err err = { 0 };

	for (int compacted = 0; compacted < 2; compacted++) {
		rig_open(&rig, NULL);
		open_again(40);
		send_words(3);
		if (compacted)
			rig_good(writer_compact(rig.writer, &err), &err);
		rig_verify(&rig);
		expect(3, 30, 1);
		writer_close(&rig.writer);
		rig.options.retain_ns = 3600 * NS_PER_SECOND;
		rig_open_indexer(&rig);
		rig_indexer(&rig);
		rig_verify(&rig);
		expect(0, 0, 1);
		send_words(3);
		expect(3, 30, 2);
		rig_close(&rig);
	}
}

static void
a_large_body_is_stored_in_part(void **state)
{
	static char large[REJECTED_BATCH_BYTES_MAX + 1000];
	struct journal_entry entry = { .body = { large, sizeof(large) } };
	char hash[REJECTED_BATCH_HASH_BYTES + 1];
	struct record record;

	record = rejected_batch_encode(&entry, "record", UINT64_MAX, hash);
	assert_int_equal(record.count, sizeof(large));
	assert_int_equal(record.value_bytes.bytes, REJECTED_BATCH_BYTES_MAX);
	record = rejected_batch_encode(
	    &entry, "record", REJECTED_BATCH_BYTES_MAX, hash);
	assert_int_equal(record.value_bytes.bytes, REJECTED_BATCH_BYTES_MAX);
	record = rejected_batch_encode(
	    &entry, "record", REJECTED_BATCH_BYTES_MAX - 1, hash);
	assert_int_equal(record.value_bytes.bytes, 0);
	assert_int_equal(record.count, sizeof(large));
	entry.body.bytes = 0;
	record = rejected_batch_encode(&entry, "record", 0, hash);
	assert_string_equal(hash,
	    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	assert_int_equal(record.key.bytes, REJECTED_BATCH_HASH_BYTES);
}

/* Rows written before hashes were added. */
static void
rejected_batches_of_older_stores_can_be_read(void **state)
{
	static const char row[] = "\0\6record\17\3abc\2xy";
	struct text body = { row, sizeof(row) - 4 };
	struct row_block_body got;

	assert_true(row_block_get_body(body, RECORD_REJECTED, 0, &got));
	assert_int_equal(got.count, 15);
	assert_int_equal(got.value_bytes.bytes, 3);
	assert_int_equal(got.hash.bytes, 0);
	body.bytes += 3;
	assert_true(row_block_get_body(body, RECORD_REJECTED, 0, &got));
	assert_memory_equal(got.value_bytes.at, "abc", 3);
	assert_memory_equal(got.hash.at, "xy", 2);
	body.bytes--;
	assert_false(row_block_get_body(body, RECORD_REJECTED, 0, &got));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    beyond_the_limit_only_length_and_hash_are_stored),
		cmocka_unit_test(the_limit_outlives_the_process),
		cmocka_unit_test(valid_batches_do_not_count),
		cmocka_unit_test(retention_frees_space_for_new_ones),
		cmocka_unit_test(a_large_body_is_stored_in_part),
		cmocka_unit_test(rejected_batches_of_older_stores_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
