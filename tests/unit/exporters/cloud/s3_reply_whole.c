/*
 * s3_reply_whole - the ETag and the list of parts, by md5sum(1) and by hand.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/s3.h"

#include "tests/unit/check.h"

#include <sodium.h>

static struct s3_put put[4];

static void
take_part(uint32_t number, const char *hex)
{
	assert_int_equal(sodium_hex2bin(put[number].md5, MD5_BYTES, hex,
			     strlen(hex), NULL, NULL, NULL),
	    0);
	snprintf(put[number].etag, sizeof(put[number].etag), "\"%s\"", hex);
}

/* "aaa", "b" and nothing: md5sum, unhexed by xxd, and md5sum once more. */
static int
take_parts(void **state)
{
	take_part(1, "47bce5c74f589f4867dbd57e9ca9f808");
	take_part(2, "92eb5ffee6ae2fec3ad71c777531578f");
	take_part(3, "d41d8cd98f00b204e9800998ecf8427e");
	return 0;
}

static void
a_whole_has_the_sum_of_the_sums(void **state)
{
	char etag[S3_WHOLE_BYTES];
	struct err err = { 0 };

	assert_int_equal(s3_whole_etag(etag, put, 3, &err), 0);
	assert_string_equal(etag, "211189a0ad6bc15091c45bfcaacf3eb3-3");
}

static void
its_parts_are_listed_in_order(void **state)
{
	size_t bytes;
	char *list;

	strcpy(put[2].etag, "\"<&>\"");
	list = s3_whole_list(put, 2, &bytes);
	assert_int_equal(bytes, strlen(list));
	assert_string_equal(list,
	    "<CompleteMultipartUpload>"
	    "<Part><PartNumber>1</PartNumber><ETag>&quot;"
	    "47bce5c74f589f4867dbd57e9ca9f808&quot;</ETag></Part>"
	    "<Part><PartNumber>2</PartNumber><ETag>&quot;&lt;&amp;&gt;&quot;"
	    "</ETag></Part></CompleteMultipartUpload>");
	free(list);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_has_the_sum_of_the_sums),
		cmocka_unit_test(its_parts_are_listed_in_order),
	};

	return cmocka_run_group_tests(tests, take_parts, NULL);
}
