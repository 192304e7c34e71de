/*
 * google_credentials - token requests of a service account.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/google/credentials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "exporters/cloud/google/jwt.h"
#include "proto/base/memory.h"
#include "proto/json/json.h"
#include "proto/keys/secret.h"
#include "proto/os/clock.h"

enum { ASSERTION_SECONDS = 3600 };
#define CREDENTIALS "GOOGLE_APPLICATION_CREDENTIALS"
#define GRANT       "urn:ietf:params:oauth:grant-type:jwt-bearer"

int
google_account_open(struct google_account *account, struct err *err)
{
	const char *path = getenv(CREDENTIALS);
	struct secret file;
	char shown[300];
	int rc;

	if (path == NULL || path[0] == '\0')
		return err_set(err, CREDENTIALS " does not name a file");
	if (secret_from_file(&file, path, err) != 0)
		return -1;
	rc = google_account_read(account, secret_text(&file), err);
	secret_clear(&file);
	if (rc != 0)
		err_prefix(err, CREDENTIALS " %s",
		    text_quote(shown, sizeof(shown), text_of(path)));
	return rc;
}

/* The claims of RFC 7523, section 3; returns a new text. */
static char *
make_claims(const struct google_account *account, const char *scope)
{
	int64_t now = clock_wall_ns() / NS_PER_SECOND;
	struct json_memory json;

	json_memory_begin(&json, JSON_STRICT);
	json_begin_object(&json.to);
	json_add_string(&json.to, "iss", account->email);
	json_add_string(&json.to, "scope", scope);
	json_add_string(&json.to, "aud", account->token_uri);
	json_add_int(&json.to, "iat", now);
	json_add_int(&json.to, "exp", now + ASSERTION_SECONDS);
	json_end_object(&json.to);
	json_memory_end(&json);
	return json.text;
}

static void
forget(char *secret)
{
	sodium_memzero(secret, strlen(secret));
	free(secret);
}

static int
ask(struct google_token *token, const char *url, const char *assertion,
    struct http *http, struct err *err)
{
	static const char begin[] = "grant_type=" GRANT "&assertion=";
	size_t bytes = sizeof(begin) + strlen(assertion);
	struct http_request request = {
		.method = "POST",
		.url = url,
		.headers = { "Content-Type: "
			     "application/x-www-form-urlencoded" },
	};
	struct http_answer answer;
	char *body = memory_alloc(bytes);
	int rc;

	snprintf(body, bytes, "%s%s", begin, assertion);
	request.body = text_of(body);
	rc = http_send(http, &request, &answer, err);
	if (rc == 0 && answer.status != 200)
		rc = http_refused(http, &answer, err);
	else if (rc == 0 && google_token_read(token, answer.body,
				clock_monotonic_ns(), err) != 0)
		rc = err_prefix(err, "the answer of the token service");
	forget(body);
	return rc;
}

int
google_token_have(struct google_token *token,
    const struct google_account *account, const char *scope, struct http *http,
    struct err *err)
{
	char *claims, *assertion;
	int rc;

	if (token->text[0] != '\0' && clock_monotonic_ns() < token->until_ns)
		return 0;
	claims = make_claims(account, scope);
	assertion = jwt_sign(text_of(account->key), text_of(account->key_id),
	    text_of(claims), err);
	free(claims);
	if (assertion == NULL)
		return err_prefix(err, CREDENTIALS);
	rc = ask(token, account->token_uri, assertion, http, err);
	forget(assertion);
	return rc;
}
