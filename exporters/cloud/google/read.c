/*
 * google_read - parse credentials files and answers of the token service.
 * SPDX-License-Identifier: MIT
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <sodium.h>

#include "exporters/cloud/google/credentials.h"
#include "proto/base/memory.h"
#include "proto/http/message.h"
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

/* JSON that contains a secret is zeroed when freed. */
static void
free_zeroed(void *at)
{
	if (at != NULL)
		sodium_memzero(at, malloc_usable_size(at));
	free(at);
}

static json_t *
load_zeroing(struct text json)
{
	json_error_t error;

	json_set_alloc_funcs(malloc, free_zeroed);
	return json_loadb(json.at, json.bytes, JSON_REJECT_DUPLICATES, &error);
}

static void
unload_zeroing(json_t *root)
{
	json_decref(root);
	json_set_alloc_funcs(malloc, free);
}

static const char *
get(const json_t *root, const char *name, size_t bytes_max, struct err *err)
{
	const json_t *field = json_object_get(root, name);
	const char *value = json_string_value(field);

	if (value == NULL || value[0] == '\0')
		err_set(err, "it has no %s", name);
	else if (strlen(value) > bytes_max)
		err_set(
		    err, "its %s is longer than %zu bytes", name, bytes_max);
	else
		return value;
	return NULL;
}

static int
take(char **to, const json_t *root, const char *name, struct err *err)
{
	const char *value = get(root, name, FIELD_BYTES_MAX, err);

	if (value == NULL)
		return -1;
	for (const char *c = value; *c != '\0'; c++)
		if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7F)
			return err_set(
			    err, "its %s contains invalid characters", name);
	*to = memory_string(value);
	return 0;
}

static int
take_key(char **to, const json_t *root, struct err *err)
{
	const char *value = get(root, "private_key", SECRET_BYTES_MAX, err);
	size_t bytes;

	if (value == NULL)
		return -1;
	bytes = strlen(value) + 1;
	if (sodium_init() < 0 || (*to = sodium_malloc(bytes)) == NULL)
		return err_set(
		    err, "cannot allocate memory for the private key");
	memcpy(*to, value, bytes);
	return 0;
}

static int
take_account(
    struct google_account *account, const json_t *root, struct err *err)
{
	const char *type = json_string_value(json_object_get(root, "type"));

	if (!json_is_object(root))
		return err_set(err, "it is not a JSON object");
	if (type != NULL && strcmp(type, "service_account") != 0)
		return err_set(err, "it does not describe a service account");
	if (take(&account->email, root, "client_email", err) != 0 ||
	    take(&account->token_uri, root, "token_uri", err) != 0 ||
	    take_key(&account->key, root, err) != 0)
		return -1;
	if (!google_url_is_safe(account->token_uri))
		return err_set(err, "its token_uri is neither https:// nor "
				    "this machine");
	if (json_object_get(root, "private_key_id") != NULL)
		return take(&account->key_id, root, "private_key_id", err);
	account->key_id = memory_string("");
	return 0;
}

int
google_account_read(
    struct google_account *account, struct text json, struct err *err)
{
	json_t *root = load_zeroing(json);
	int rc;

	*account = (struct google_account){ .email = NULL };
	rc = take_account(account, root, err);
	unload_zeroing(root);
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
take_token(struct google_token *token, const json_t *root, int64_t now_ns,
    struct err *err)
{
	const json_t *life = json_object_get(root, "expires_in");
	const char *text =
	    json_string_value(json_object_get(root, "access_token"));
	const char *type =
	    json_string_value(json_object_get(root, "token_type"));
	size_t bytes = text != NULL ? strlen(text) : 0;

	if (bytes == 0 || bytes > GOOGLE_TOKEN_BYTES_MAX)
		return err_set(err,
		    "it has no access_token of at most %d bytes",
		    GOOGLE_TOKEN_BYTES_MAX);
	for (size_t i = 0; i < bytes; i++)
		if (text[i] <= ' ' || text[i] >= 0x7F)
			return err_set(err,
			    "its access_token contains unprintable characters");
	if (type != NULL && strcasecmp(type, "Bearer") != 0)
		return err_set(err, "its token_type is not Bearer");
	if (!json_is_number(life) || !(json_number_value(life) >= 1) ||
	    json_number_value(life) > GOOGLE_TOKEN_SECONDS_MAX)
		return err_set(err, "its expires_in is not between 1 and %d",
		    GOOGLE_TOKEN_SECONDS_MAX);
	memcpy(token->text, text, bytes + 1);
	token->until_ns =
	    now_ns +
	    ((int64_t)json_number_value(life) - SPARE_SECONDS) * NS_PER_SECOND;
	return 0;
}

int
google_token_read(struct google_token *token, struct text answer,
    int64_t now_ns, struct err *err)
{
	json_t *root = load_zeroing(answer);
	int rc;

	google_token_drop(token);
	if (json_is_object(root))
		rc = take_token(token, root, now_ns, err);
	else
		rc = err_set(err, "it is not a JSON object");
	unload_zeroing(root);
	return rc;
}

void
google_token_drop(struct google_token *token)
{
	sodium_memzero(token, sizeof(*token));
}
