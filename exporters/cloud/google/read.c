/*
 * google_read - parse credentials files and answers of the token service.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "exporters/cloud/google/credentials.h"
#include "proto/base/memory.h"
#include "proto/http/message.h"
#include "proto/json/json_fields.h"
#include "proto/json/json_find.h"
#include "proto/keys/secret.h"
#include "proto/os/clock.h"

enum {
	FIELD_BYTES_MAX = 1024, /* bytes of each member except the key */
	SPARE_SECONDS = 60,     /* a token is not used during its last minute */
};

bool
google_url_is_safe(const char *url)
{
	static const char *const here[] = { "127.0.0.1", "localhost", "[::1]" };
	struct http_address address;
	struct err err;
	bool is_safe = false;

	if (http_address_open(&address, url, &err) == 0) {
		is_safe = strcmp(address.scheme, "https") == 0;
		for (size_t i = 0; i < sizeof(here) / sizeof(*here); i++)
			is_safe = is_safe || strcmp(address.host, here[i]) == 0;
	}
	http_address_close(&address);
	return is_safe;
}

/* ---- the account ---- */

/* A string, which the caller gives to sodium_free; NULL: there is none, or an
 * empty or longer one, and `err` says so. */
static char *
take_secret(
    struct text root, const char *name, size_t bytes_max, struct err *err)
{
	struct text value = json_find(root, name);
	char *to = sodium_init() < 0 ? NULL : sodium_malloc(value.bytes + 1);

	if (to == NULL)
		err_set(err, "cannot allocate memory for the %s", name);
	else if (!json_find_string_into(to, value) || to[0] == '\0')
		err_set(err, "it has no %s", name);
	else if (strlen(to) > bytes_max)
		err_set(
		    err, "its %s is longer than %zu bytes", name, bytes_max);
	else
		return to;
	sodium_free(to);
	return NULL;
}

static bool
is_other(struct text root, const char *name, const char *wanted)
{
	char *string = json_find_string(json_find(root, name));
	bool is = string != NULL && strcasecmp(string, wanted) != 0;

	free(string);
	return is;
}

static bool
is_printable(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text <= ' ' || (unsigned char)*text >= 0x7F)
			return false;
	return true;
}

static int
take(char **to, struct text root, const char *name, struct err *err)
{
	char *value = take_secret(root, name, FIELD_BYTES_MAX, err);
	int rc = value == NULL ? -1 : 0;

	if (rc == 0 && !is_printable(value))
		rc = err_set(err, "its %s contains invalid characters", name);
	if (rc == 0)
		*to = memory_string(value);
	sodium_free(value);
	return rc;
}

static int
take_account(struct google_account *account, struct text root, struct err *err)
{
	if (is_other(root, "type", "service_account"))
		return err_set(err, "it does not describe a service account");
	if (take(&account->email, root, "client_email", err) != 0 ||
	    take(&account->token_uri, root, "token_uri", err) != 0)
		return -1;
	account->key = take_secret(root, "private_key", SECRET_BYTES_MAX, err);
	if (account->key == NULL)
		return -1;
	if (!google_url_is_safe(account->token_uri))
		return err_set(err, "its token_uri is neither https:// nor "
				    "this machine");
	if (json_find(root, "private_key_id").bytes > 0)
		return take(&account->key_id, root, "private_key_id", err);
	account->key_id = memory_string("");
	return 0;
}

int
google_account_read(
    struct google_account *account, struct text json, struct err *err)
{
	struct text root = json_find_root(json);
	int rc;

	*account = (struct google_account){ .email = NULL };
	rc = root.bytes == 0 ? err_set(err, "it is not a JSON object")
			     : take_account(account, root, err);
	if (rc != 0)
		google_account_clear(account);
	return rc;
}

void
google_account_clear(struct google_account *account)
{
	free(account->email);
	free(account->token_uri);
	free(account->key_id);
	if (account->key != NULL)
		sodium_free(account->key);
	*account = (struct google_account){ .email = NULL };
}

/* ---- the token ---- */

static int
take_token(struct google_token *token, struct text root, int64_t now_ns,
    struct err *err)
{
	char *text =
	    take_secret(root, "access_token", GOOGLE_TOKEN_BYTES_MAX, err);
	struct value life;
	double seconds = 0;

	if (text == NULL)
		return -1;
	strcpy(token->text, text);
	sodium_free(text);
	if (!is_printable(token->text))
		return err_set(
		    err, "its access_token contains unprintable characters");
	if (is_other(root, "token_type", "Bearer"))
		return err_set(err, "its token_type is not Bearer");
	if (json_fields_number(json_find(root, "expires_in"), &life, err) == 0)
		seconds =
		    life.type == VALUE_INT ? (double)life.is.i : life.is.f;
	if (!(seconds >= 1) || seconds > GOOGLE_TOKEN_SECONDS_MAX)
		return err_set(err, "its expires_in is not between 1 and %d",
		    GOOGLE_TOKEN_SECONDS_MAX);
	token->until_ns =
	    now_ns + ((int64_t)seconds - SPARE_SECONDS) * NS_PER_SECOND;
	return 0;
}

int
google_token_read(struct google_token *token, struct text answer,
    int64_t now_ns, struct err *err)
{
	struct text root = json_find_root(answer);
	int rc;

	google_token_drop(token);
	rc = root.bytes == 0 ? err_set(err, "it is not a JSON object")
			     : take_token(token, root, now_ns, err);
	if (rc != 0)
		google_token_drop(token);
	return rc;
}

void
google_token_drop(struct google_token *token)
{
	sodium_memzero(token, sizeof(*token));
}
