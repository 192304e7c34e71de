/*
 * google_credentials - credentials files and the token service's answers.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/google_credentials.h"

#include "proto/os/clock.h"
#include "tests/unit/check.h"

#define FILE_OF(email, uri)                                                    \
	"{\"type\": \"service_account\", \"client_email\": " email             \
	", \"private_key_id\": \"k1\", "                                       \
	"\"private_key\": \"-----BEGIN X-----\\nabc\\n\", \"token_uri\": " uri \
	"}"

static void
a_credentials_file_says_who_with_what_and_where(void **state)
{
	struct google_account account;
	struct err err = { 0 };

	assert_int_equal(google_account_read(&account,
			     text_of(FILE_OF("\"a@b\"",
				 "\"https://oauth2.googleapis.com/token\"")),
			     &err),
	    0);
	assert_string_equal(account.email, "a@b");
	assert_string_equal(account.key_id, "k1");
	assert_string_equal(account.key, "-----BEGIN X-----\nabc\n");
	assert_string_equal(
	    account.token_uri, "https://oauth2.googleapis.com/token");
	google_account_clear(&account);
	assert_null(account.key);
}

static void
assert_bad_account(const char *json, const char *why)
{
	struct google_account account;
	struct err err = { 0 };

	assert_int_equal(
	    google_account_read(&account, text_of(json), &err), -1);
	assert_non_null(strstr(err.text, why));
	assert_null(strstr(err.text, "BEGIN"));
	assert_null(account.email);
	assert_null(account.key);
}

static void
another_file_is_refused_without_showing_any_of_it(void **state)
{
	assert_bad_account("", "not a JSON object");
	assert_bad_account("[1]", "not a JSON object");
	assert_bad_account("{\"type\": \"authorized_user\"}", "not describe a");
	assert_bad_account("{\"type\": \"service_account\"}", "client_email");
	assert_bad_account(FILE_OF("7", "\"https://a/\""), "client_email");
	assert_bad_account(FILE_OF("\"a b\"", "\"https://a/\""), "characters");
	assert_bad_account(
	    FILE_OF("\"a@b\"", "\"https://a\\r\\nX: y\""), "characters");
	assert_bad_account(FILE_OF("\"a@b\"", "\"http://a/\""), "token_uri");
	assert_bad_account("{\"client_email\": \"a\", \"token_uri\": "
			   "\"https://a/\"}",
	    "private_key");
	assert_bad_account("{\"client_email\": \"a\", \"client_email\": "
			   "\"b\"}",
	    "not a JSON object");
}

static void
secrets_go_over_tls_or_stay_on_this_machine(void **state)
{
	assert_true(google_url_is_safe("https://oauth2.googleapis.com/token"));
	assert_true(google_url_is_safe("http://127.0.0.1:80/token"));
	assert_true(google_url_is_safe("http://localhost/"));
	assert_true(google_url_is_safe("http://[::1]:8080/"));
	assert_false(google_url_is_safe("http://example.com/"));
	assert_false(google_url_is_safe("http://127.0.0.1.example.com/"));
	assert_false(google_url_is_safe("http://127.0.0.1@example.com/"));
	assert_false(google_url_is_safe("http://127.0.0.1:x@example.com/"));
	assert_false(google_url_is_safe("http://localhost.example.com/"));
	assert_false(google_url_is_safe("https://"));
	assert_false(google_url_is_safe("https:///token"));
	assert_false(google_url_is_safe("file:///etc/passwd"));
	assert_false(google_url_is_safe(""));
}

static void
a_token_is_used_until_a_minute_before_its_end(void **state)
{
	struct google_token token = { "", 0 };
	struct err err = { 0 };

	assert_int_equal(
	    google_token_read(&token,
		text_of("{\"access_token\": \"ya29.x\", \"expires_in\": "
			"3599, \"token_type\": \"Bearer\"}"),
		7 * NS_PER_SECOND, &err),
	    0);
	assert_string_equal(token.text, "ya29.x");
	assert_int_equal(token.until_ns, (7 + 3599 - 60) * NS_PER_SECOND);
	google_token_drop(&token);
	assert_string_equal(token.text, "");
}

static void
assert_bad_token(const char *json, const char *why)
{
	struct google_token token = { "before", 1 };
	struct err err = { 0 };

	assert_int_equal(google_token_read(&token, text_of(json), 0, &err), -1);
	assert_non_null(strstr(err.text, why));
	assert_string_equal(token.text, "");
}

static void
another_answer_is_no_token(void **state)
{
	assert_bad_token("", "not a JSON object");
	assert_bad_token("<html>", "not a JSON object");
	assert_bad_token("{}", "access_token");
	assert_bad_token("{\"access_token\": \"\"}", "access_token");
	assert_bad_token("{\"access_token\": \"a\\r\\nX: y\"}", "printable");
	assert_bad_token("{\"access_token\": \"a\"}", "expires_in");
	assert_bad_token(
	    "{\"access_token\": \"a\", \"expires_in\": \"60\"}", "expires_in");
	assert_bad_token(
	    "{\"access_token\": \"a\", \"expires_in\": 0}", "expires_in");
	assert_bad_token(
	    "{\"access_token\": \"a\", \"expires_in\": 1e300}", "expires_in");
	assert_bad_token(
	    "{\"access_token\": \"a\", \"token_type\": \"mac\"}", "token_type");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_credentials_file_says_who_with_what_and_where),
		cmocka_unit_test(
		    another_file_is_refused_without_showing_any_of_it),
		cmocka_unit_test(secrets_go_over_tls_or_stay_on_this_machine),
		cmocka_unit_test(a_token_is_used_until_a_minute_before_its_end),
		cmocka_unit_test(another_answer_is_no_token),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
