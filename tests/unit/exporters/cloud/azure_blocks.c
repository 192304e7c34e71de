/*
 * azure_blocks - the answer to "Get Block List" as its reference shows it.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/azure_account.h"

#include <sodium.h>

#include "tests/unit/check.h"

static void
a_part_is_known_again_by_what_is_in_it(void **state)
{
	char one[AZURE_BLOCK_ID_BYTES], other[AZURE_BLOCK_ID_BYTES];
	unsigned char bytes[24];
	size_t n;

	azure_block_id(one, 1, text_of("content"));
	azure_block_id(other, 1, text_of("content"));
	assert_string_equal(one, other);
	azure_block_id(other, 2, text_of("content"));
	assert_string_not_equal(one, other);
	azure_block_id(other, 1, text_of("Content"));
	assert_string_not_equal(one, other);
	/* All ids of a blob must be of one length, and base64. */
	assert_int_equal(strlen(one), strlen(other));
	assert_int_equal(
	    sodium_base642bin(bytes, sizeof(bytes), one, strlen(one), NULL, &n,
		NULL, sodium_base64_VARIANT_ORIGINAL),
	    0);
	assert_int_equal(n, 24);
	assert_memory_equal(bytes, "\0\0\0\1", 4);
}

static void
blocks_of_both_lists_are_there_and_others_are_not(void **state)
{
	struct azure_blocks blocks = { .at = NULL };
	char a[AZURE_BLOCK_ID_BYTES], b[AZURE_BLOCK_ID_BYTES], body[2000];
	struct err err = { 0 };

	azure_block_id(a, 1, text_of("a"));
	azure_block_id(b, 2, text_of("b"));
	snprintf(body, sizeof(body),
	    "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?>"
	    "<BlockList><CommittedBlocks><Block><Name>%s</Name>"
	    "<Size>12</Size></Block><Block><Name>QUFBQQ==</Name>"
	    "<Size>8</Size></Block></CommittedBlocks><UncommittedBlocks>"
	    "<Block><Name>%s</Name><Size>4194304</Size></Block>"
	    "</UncommittedBlocks></BlockList>",
	    b, a);
	assert_int_equal(azure_blocks_read(&blocks, text_of(body), &err), 0);
	assert_int_equal(blocks.count, 2);
	assert_true(azure_blocks_have(&blocks, a, 4194304));
	assert_true(azure_blocks_have(&blocks, b, 12));
	assert_false(azure_blocks_have(&blocks, b, 13));
	azure_block_id(a, 3, text_of("c"));
	assert_false(azure_blocks_have(&blocks, a, 12));
	azure_blocks_clear(&blocks);
	assert_int_equal(
	    azure_blocks_read(&blocks, text_of("<BlockList/>"), &err), 0);
	assert_false(azure_blocks_have(&blocks, a, 12));
	azure_blocks_clear(&blocks);
}

static void
a_size_that_is_none_is_refused(void **state)
{
	struct azure_blocks blocks = { .at = NULL };
	struct err err = { 0 };

	assert_int_equal(
	    azure_blocks_read(&blocks,
		text_of("<BlockList><CommittedBlocks><Block><Size>-1</Size>"
			"</Block></CommittedBlocks></BlockList>"),
		&err),
	    -1);
	assert_non_null(strstr(err.text, "size"));
	azure_blocks_clear(&blocks);
}

static int
begin(void **state)
{
	return sodium_init() < 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_part_is_known_again_by_what_is_in_it),
		cmocka_unit_test(
		    blocks_of_both_lists_are_there_and_others_are_not),
		cmocka_unit_test(a_size_that_is_none_is_refused),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
