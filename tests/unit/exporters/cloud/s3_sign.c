/*
 * s3_sign - the signatures that AWS publishes for its examples, and those that
 * its own library (botocore) makes.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/s3.h"
#include "exporters/cloud/sign.h"

#include "tests/unit/check.h"

#define EMPTY                                                                  \
	"x-amz-content-sha256: "                                               \
	"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static void
assert_signature(const struct http_request *request, const char *region,
    const char *names, const char *signature)
{
	const struct sign_s3 who = {
		.id = text_of("AKIAIOSFODNN7EXAMPLE"),
		.secret = text_of("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
		.region = region,
	};
	char header[SIGN_S3_HEADER_BYTES], wanted[SIGN_S3_HEADER_BYTES];
	struct err err = { 0 };

	assert_int_equal(sign_s3(&who, request, header, &err), 0);
	snprintf(wanted, sizeof(wanted),
	    "Authorization: AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/"
	    "20130524/%s/s3/aws4_request,SignedHeaders=%s,Signature=%s",
	    region, names, signature);
	assert_string_equal(header, wanted);
}

/* "Authenticating Requests: Using the Authorization Header", its examples. */
static void
a_part_of_an_object_is_asked_for_as_aws_shows_it(void **state)
{
	const struct http_request request = { .method = "GET",
		.url = "https://examplebucket.s3.amazonaws.com/test.txt",
		.headers = { "Range: bytes=0-9", EMPTY,
		    "x-amz-date: 20130524T000000Z", NULL } };

	assert_signature(&request, "us-east-1",
	    "host;range;x-amz-content-sha256;x-amz-date",
	    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

static void
an_object_is_put_as_aws_shows_it(void **state)
{
	const struct http_request request = { .method = "PUT",
		.url =
		    "https://examplebucket.s3.amazonaws.com/test%24file.text",
		.headers = { "Date: Fri, 24 May 2013 00:00:00 GMT",
		    "x-amz-date: 20130524T000000Z",
		    "x-amz-storage-class: REDUCED_REDUNDANCY",
		    "x-amz-content-sha256: "
		    "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b8"
		    "03f8b072",
		    NULL } };

	assert_signature(&request, "us-east-1",
	    "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
	    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

static void
a_parameter_without_a_value_is_signed_as_aws_shows_it(void **state)
{
	const struct http_request request = { .method = "GET",
		.url = "https://examplebucket.s3.amazonaws.com/?lifecycle",
		.headers = { "x-amz-date: 20130524T000000Z", EMPTY, NULL } };

	assert_signature(&request, "us-east-1",
	    "host;x-amz-content-sha256;x-amz-date",
	    "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
}

static void
parameters_are_signed_in_order_however_they_stand(void **state)
{
	const struct http_request one = { .method = "GET",
		.url = "https://examplebucket.s3.amazonaws.com"
		       "?max-keys=2&prefix=J",
		.headers = { "x-amz-date: 20130524T000000Z", EMPTY, NULL } };
	struct http_request other = one;

	other.url =
	    "https://examplebucket.s3.amazonaws.com/?prefix=J&max-keys=2";
	assert_signature(&one, "us-east-1",
	    "host;x-amz-content-sha256;x-amz-date",
	    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
	assert_signature(&other, "us-east-1",
	    "host;x-amz-content-sha256;x-amz-date",
	    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

/* What S3SigV4Auth of botocore 1.44 gave for the same at 2013-05-24T00:00:00.
 */
static void
botocore_signs_the_same(void **state)
{
	const struct http_request part = { .method = "PUT",
		.url = "http://127.0.0.1:14580/bucket/a%20b/"
		       "%24%2B%3A%C3%A9~x-_.txt?partNumber=7&"
		       "uploadId=Ab%2Fc%3D%3D",
		.headers = { "Content-MD5:  1B2M2Y8AsgTpgAmY7PhCfg==",
		    "Content-Type: text/plain  ",
		    "x-amz-date: 20130524T000000Z", EMPTY,
		    "x-amz-security-token: token/with+and==", NULL } };
	const struct http_request list = { .method = "GET",
		.url = "https://s3.eu-west-3.amazonaws.com/my.bucket/"
		       "?prefix=a%20%2B&uploads=&Zebra=1&key-marker=",
		.headers = { "x-amz-date: 20130524T000000Z", EMPTY, NULL } };

	assert_signature(&part, "eu-central-1",
	    "content-md5;content-type;host;x-amz-content-sha256;x-amz-date;"
	    "x-amz-security-token",
	    "0981894d5048f5fa91673ac3c672884a9c92ffeaec6e362a11429fa077720c72");
	assert_signature(&list, "eu-west-3",
	    "host;x-amz-content-sha256;x-amz-date",
	    "76e300361fe426f78bb975c2532c2cba26462d58ac608d15b901077d7cc43e1a");
}

static void
what_cannot_be_signed_is_refused(void **state)
{
	struct http_request request = { .method = "GET",
		.url = "https://b.s3.amazonaws.com/",
		.headers = { EMPTY, NULL } };
	const struct sign_s3 who = {
		.id = text_of("id"), .secret = text_of("s"), .region = "r"
	};
	char header[SIGN_S3_HEADER_BYTES], query[512] = "https://h/?";
	struct err err = { 0 };

	assert_int_equal(sign_s3(&who, &request, header, &err), -1);
	assert_non_null(strstr(err.text, "date"));
	request.headers[0] = "x-amz-date: 20130524T000000Z";
	request.url = "nonsense";
	assert_int_equal(sign_s3(&who, &request, header, &err), -1);
	assert_non_null(strstr(err.text, "address"));
	for (int i = 0; i <= SIGN_QUERY_MAX; i++)
		strcat(query, "a=1&");
	request.url = query;
	assert_int_equal(sign_s3(&who, &request, header, &err), -1);
	assert_non_null(strstr(err.text, "parameters"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_part_of_an_object_is_asked_for_as_aws_shows_it),
		cmocka_unit_test(an_object_is_put_as_aws_shows_it),
		cmocka_unit_test(
		    a_parameter_without_a_value_is_signed_as_aws_shows_it),
		cmocka_unit_test(
		    parameters_are_signed_in_order_however_they_stand),
		cmocka_unit_test(botocore_signs_the_same),
		cmocka_unit_test(what_cannot_be_signed_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
