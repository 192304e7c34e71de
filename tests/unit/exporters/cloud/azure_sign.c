/*
 * azure_sign - signatures as Python's hmac and hashlib make them of the texts
 * that Azure's documentation puts together.
 *
 *	KEY = base64.b64encode(b'0123456789abcdef' * 4)
 *	base64.b64encode(hmac.new(base64.b64decode(KEY), TEXT.encode(),
 *	    hashlib.sha256).digest())
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/azure_account.h"

#include "tests/unit/check.h"

#define KEY                                                                    \
	"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWYwMTIzNDU2Nzg5YWJjZGVmMDEy" \
	"MzQ1Njc4OWFiY2RlZg=="
#define DATE           "x-ms-date: Fri, 20 Nov 2026 23:13:20 GMT"
#define VERSION_HEADER "x-ms-version: 2021-08-06"

static void
assert_signature(enum sign_azure_service service,
    const struct http_request *request, const char *signature)
{
	struct sign_azure who = { .service = service, .account = "shipyard" };
	char header[SIGN_AZURE_HEADER_BYTES], wanted[SIGN_AZURE_HEADER_BYTES];
	struct err err = { 0 };

	assert_int_equal(sign_azure_set_key(&who, text_of(KEY), &err), 0);
	assert_int_equal(sign_azure(&who, request, header, &err), 0);
	snprintf(wanted, sizeof(wanted), "Authorization: SharedKey shipyard:%s",
	    signature);
	assert_string_equal(header, wanted);
}

/* POST\n\napplication/json\nDATE\n/shipyard/shipyard/Tables */
static void
of_a_table_verb_type_date_and_path_are_signed(void **state)
{
	const struct http_request request = { .method = "POST",
		.url = "http://127.0.0.1:10102/shipyard/Tables",
		.headers = { "Accept: application/json", DATE,
		    "x-ms-version: 2019-02-02",
		    "Content-Type: application/json", NULL },
		.body = { "{\"TableName\":\"a\"}", 17 } };

	assert_signature(SIGN_AZURE_TABLE, &request,
	    "e3a5EeoPAQkCPBjvQ6a7kX8kB3MtZ3JMOAqRlb2d3Ow=");
}

/* GET\n\n\nDATE\n/shipyard/shipyardgr(), and ...\n/shipyard/?comp=list */
static void
of_a_tables_query_only_comp_is_signed(void **state)
{
	struct http_request request = { .method = "GET",
		.url = "https://shipyard.table.core.windows.net/shipyardgr()"
		       "?$filter=PartitionKey%20eq%20%27a%27",
		.headers = { DATE, NULL } };

	assert_signature(SIGN_AZURE_TABLE, &request,
	    "0THSNL3lGf4LrDx4PL8uDJ0xo4MxYaYw2+5oUSBNokk=");
	request.url = "https://shipyard.table.core.windows.net/?comp=list";
	assert_signature(SIGN_AZURE_TABLE, &request,
	    "A1eQ3Wz0yFipjzy/sbSK10oND0q6x9bt004WS7X2NjU=");
}

/* PUT\n\n\n100000\n\nimage/png\n\n\n\n\n\n\nx-ms-blob-type:BlockBlob\n
 * x-ms-date:DATE\nx-ms-version:2021-08-06\n
 * /shipyard/shipyard/plots/a%20b/f.png */
static void
a_blob_on_an_emulator_has_its_account_twice(void **state)
{
	static char body[100000];
	const struct http_request request = { .method = "PUT",
		.url = "http://127.0.0.1:10100/shipyard/plots/a%20b/f.png",
		.headers = { VERSION_HEADER, "X-MS-Blob-Type:  BlockBlob ",
		    "Content-Type: image/png", DATE, NULL },
		.body = { body, sizeof(body) } };

	assert_signature(SIGN_AZURE_BLOB, &request,
	    "HlaDcfj/UYomf0QmyAr+OTHrEMBAOqDxmT268MGUD+Y=");
}

/* PUT\n\n\n5\nXUFAKrxLKna5cZ2REBfFkg==\napplication/octet-stream\n\n\n\n*\n\n\n
 * x-ms-date:DATE\nx-ms-version:2021-08-06\n
 * /shipyard/plots/f\nblockid:AAA+/w==\ncomp:block */
static void
a_blobs_parameters_are_signed_decoded_and_in_order(void **state)
{
	const struct http_request request = { .method = "PUT",
		.url = "https://shipyard.blob.core.windows.net/plots/f"
		       "?comp=block&blockid=AAA%2b%2Fw%3D%3D",
		.headers = { DATE, VERSION_HEADER, "If-None-Match: *",
		    "Content-Type: application/octet-stream",
		    "Content-MD5: XUFAKrxLKna5cZ2REBfFkg==", NULL },
		.body = { "hello", 5 } };

	assert_signature(SIGN_AZURE_BLOB, &request,
	    "UxqcjVSTC9BiP618RHA4GsISWze8xMTshMOzdW70Ojg=");
}

/* HEAD, eleven empty lines, x-ms-date:DATE\n... */
static void
an_empty_body_has_no_length(void **state)
{
	const struct http_request request = { .method = "HEAD",
		.url = "https://shipyard.blob.core.windows.net/plots/f",
		.headers = { DATE, VERSION_HEADER, NULL } };

	assert_signature(SIGN_AZURE_BLOB, &request,
	    "mvNzNMRiJFIJcl/f30KK2M/Arl2UgYLV+Y9WKj+72ek=");
}

static void
a_bad_key_is_refused_and_not_shown(void **state)
{
	static const char *const bad[] = { "", "c2VjcmV0!", "c2VjcmV" };
	struct sign_azure who;
	struct err err = { 0 };
	char longer[512];

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(
		    sign_azure_set_key(&who, text_of(bad[i]), &err), -1);
		assert_null(strstr(err.text, "c2V"));
		assert_non_null(strstr(err.text, "base64"));
	}
	memset(longer, 'A', sizeof(longer));
	assert_int_equal(sign_azure_set_key(&who,
			     (struct text){ longer, sizeof(longer) }, &err),
	    -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_table_verb_type_date_and_path_are_signed),
		cmocka_unit_test(of_a_tables_query_only_comp_is_signed),
		cmocka_unit_test(a_blob_on_an_emulator_has_its_account_twice),
		cmocka_unit_test(
		    a_blobs_parameters_are_signed_decoded_and_in_order),
		cmocka_unit_test(an_empty_body_has_no_length),
		cmocka_unit_test(a_bad_key_is_refused_and_not_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
