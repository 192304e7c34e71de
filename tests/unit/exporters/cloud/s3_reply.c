/*
 * s3_reply - answers as the API reference of S3 shows them.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/s3.h"

#include "tests/unit/check.h"

#define NS "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\""

static void
of_several_uploads_the_newest_of_the_very_key_counts(void **state)
{
	struct s3_uploads u = { .key = "my & file" };
	struct err err = { 0 };

	assert_int_equal(
	    s3_read_uploads(&u,
		text_of("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			"<ListMultipartUploadsResult " NS ">"
			"<Bucket>bucket</Bucket><KeyMarker/>"
			"<NextKeyMarker>my &amp; file</NextKeyMarker>"
			"<NextUploadIdMarker>Yw&lt;gEn</NextUploadIdMarker>"
			"<IsTruncated>true</IsTruncated>"
			"<Upload><Key>my &amp; file</Key><UploadId>new"
			"</UploadId><Initiator><ID>arn</ID></Initiator>"
			"<Initiated>2010-11-10T20:48:33.000Z</Initiated>"
			"</Upload>"
			"<Upload><Key>my &amp; file</Key><UploadId>old"
			"</UploadId><Initiated>2010-11-09T20:48:33.000Z"
			"</Initiated></Upload>"
			"<Upload><Key>my &amp; file.2</Key><UploadId>other"
			"</UploadId><Initiated>2011-11-09T20:48:33.000Z"
			"</Initiated></Upload>"
			"</ListMultipartUploadsResult>"),
		&err),
	    0);
	assert_string_equal(u.id, "new");
	assert_true(u.more);
	assert_string_equal(u.next_key, "my & file");
	assert_string_equal(u.next_id, "Yw<gEn");
}

static void
parts_are_known_by_number_size_and_sum(void **state)
{
	static struct s3_parts parts;
	struct err err = { 0 };

	assert_int_equal(
	    s3_read_parts(&parts,
		text_of("<ListPartsResult " NS "><PartNumberMarker>1"
			"</PartNumberMarker><NextPartNumberMarker>3"
			"</NextPartNumberMarker><IsTruncated>true</IsTruncated>"
			"<Part><PartNumber>2</PartNumber><ETag>"
			"&quot;7778aef83f66abc1fa1e8477f296d394&quot;</ETag>"
			"<Size>10485760</Size></Part>"
			"<Part><PartNumber>3</PartNumber><ETag>\"weird\"</ETag>"
			"<Size>10485760</Size></Part></ListPartsResult>"),
		&err),
	    0);
	assert_true(parts.more);
	assert_int_equal(parts.next, 3);
	assert_false(parts.at[1].there);
	assert_true(parts.at[2].there);
	assert_int_equal(parts.at[2].bytes, 10485760);
	assert_int_equal(parts.at[2].md5[0], 0x77);
	assert_int_equal(parts.at[2].md5[15], 0x94);
	assert_false(parts.at[3].there);
}

static void
a_list_that_goes_round_or_has_strange_parts_is_refused(void **state)
{
	static struct s3_parts parts = { .next = 5 };
	struct err err = { 0 };

	assert_int_equal(
	    s3_read_parts(&parts,
		text_of("<ListPartsResult><IsTruncated>true</IsTruncated>"
			"<NextPartNumberMarker>5</NextPartNumberMarker>"
			"</ListPartsResult>"),
		&err),
	    -1);
	assert_non_null(strstr(err.text, "repeats the same page"));
	assert_int_equal(
	    s3_read_parts(&parts,
		text_of("<ListPartsResult><Part><PartNumber>10001</PartNumber>"
			"</Part></ListPartsResult>"),
		&err),
	    -1);
	assert_non_null(strstr(err.text, "10000"));
	assert_int_equal(
	    s3_read_parts(&parts,
		text_of("<ListPartsResult><Part><Size>much</Size></Part>"
			"</ListPartsResult>"),
		&err),
	    -1);
}

static void
an_upload_has_an_id(void **state)
{
	char id[S3_ID_BYTES], longer[S3_ID_BYTES + 128];
	struct err err = { 0 };

	assert_int_equal(s3_read_id(id,
			     text_of("<InitiateMultipartUploadResult " NS ">"
				     "<UploadId>VXBsb2FkIElE</UploadId>"
				     "</InitiateMultipartUploadResult>"),
			     &err),
	    0);
	assert_string_equal(id, "VXBsb2FkIElE");
	assert_int_equal(
	    s3_read_id(id, text_of("<InitiateMultipartUploadResult/>"), &err),
	    -1);
	assert_non_null(strstr(err.text, "no upload id"));
	snprintf(longer, sizeof(longer),
	    "<InitiateMultipartUploadResult><UploadId>%01024d</UploadId>"
	    "</InitiateMultipartUploadResult>",
	    7);
	assert_int_equal(s3_read_id(id, text_of(longer), &err), 0);
	snprintf(longer, sizeof(longer),
	    "<InitiateMultipartUploadResult><UploadId>%01025d</UploadId>"
	    "</InitiateMultipartUploadResult>",
	    7);
	assert_int_equal(s3_read_id(id, text_of(longer), &err), -1);
}

/* "Note that ... a 200 OK response can contain either a success or an
 * error", behind blanks that keep the connection. */
static void
a_success_may_be_an_error(void **state)
{
	char etag[128];
	struct err err = { 0 };

	assert_int_equal(
	    s3_read_whole(etag,
		text_of("  \r\n<?xml version=\"1.0\"?>"
			"<CompleteMultipartUploadResult " NS "><Bucket>b"
			"</Bucket><ETag>\"3858f62230ac3c915f300c664312c11f-9\""
			"</ETag></CompleteMultipartUploadResult>"),
		&err),
	    0);
	assert_string_equal(etag, "\"3858f62230ac3c915f300c664312c11f-9\"");
	assert_int_equal(
	    s3_read_whole(etag,
		text_of("<?xml version=\"1.0\"?><Error><Code>InternalError"
			"</Code><Message>We encountered an internal error."
			"\x0a Again</Message></Error>"),
		&err),
	    -1);
	assert_string_equal(
	    err.text, "InternalError: We encountered an internal error.");
}

static void
only_thirty_two_digits_are_a_sum(void **state)
{
	unsigned char md5[MD5_BYTES];

	assert_true(
	    s3_etag_md5(text_of("\"d41d8cd98f00b204e9800998ecf8427e\""), md5));
	assert_true(
	    s3_etag_md5(text_of("D41D8CD98F00B204E9800998ECF8427E"), md5));
	assert_int_equal(md5[0], 0xD4);
	assert_false(s3_etag_md5(
	    text_of("\"d41d8cd98f00b204e9800998ecf8427e-2\""), md5));
	assert_false(
	    s3_etag_md5(text_of("g41d8cd98f00b204e9800998ecf8427e"), md5));
	assert_false(s3_etag_md5(text_of(""), md5));
}

static void
what_is_no_xml_is_refused_in_a_sentence(void **state)
{
	static const char *const bad[] = { "", "{}", "<a><b></a>",
		"<!DOCTYPE x [<!ENTITY a \"aaaa\">]><x>&a;</x>", "<a>\xff</a>",
		"<a/><b/>" };
	struct s3_uploads u = { .key = "k" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct err err = { 0 };

		assert_int_equal(
		    s3_read_uploads(&u, text_of(bad[i]), &err), -1);
		assert_non_null(strstr(err.text, "XML"));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    of_several_uploads_the_newest_of_the_very_key_counts),
		cmocka_unit_test(parts_are_known_by_number_size_and_sum),
		cmocka_unit_test(
		    a_list_that_goes_round_or_has_strange_parts_is_refused),
		cmocka_unit_test(an_upload_has_an_id),
		cmocka_unit_test(a_success_may_be_an_error),
		cmocka_unit_test(only_thirty_two_digits_are_a_sum),
		cmocka_unit_test(what_is_no_xml_is_refused_in_a_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
