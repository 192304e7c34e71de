/*
 * google_credentials - authentication to Google's services.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/google_credentials.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/http/message.h"
#include "proto/json/json.h"
#include "proto/json/json_fields.h"
#include "proto/json/json_find.h"
#include "proto/keys/secret.h"
#include "proto/os/clock.h"

enum { JWT_KEY_BITS_MIN = 2048, JWT_KEY_BITS_MAX = 16384 };

/* Parse credentials files and answers of the token service. */

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

/* Four characters for each three bytes, and the NUL of EVP_EncodeBlock. */
static size_t
room_for(size_t bytes)
{
	return (bytes + 2) / 3 * 4 + 1;
}

/* base64url without padding (RFC 4648, section 5). */
static size_t
encode(char *to, const void *bytes, size_t count)
{
	size_t length =
	    (size_t)EVP_EncodeBlock((unsigned char *)to, bytes, (int)count);

	while (length > 0 && to[length - 1] == '=')
		length--;
	for (size_t i = 0; i < length; i++)
		if (to[i] == '+' || to[i] == '/')
			to[i] = to[i] == '+' ? '-' : '_';
	to[length] = '\0';
	return length;
}

/* Reject a key with a password: nobody can be asked for it. */
static int
no_password(char *to, int bytes, int writing, void *arg)
{
	(void)to;
	(void)bytes;
	(void)writing;
	(void)arg;
	return -1;
}

static EVP_PKEY *
read_key(struct text pem, struct err *err)
{
	BIO *bio = BIO_new_mem_buf(pem.at, (int)pem.bytes);
	EVP_PKEY *key = NULL;

	if (bio != NULL)
		key = PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
	BIO_free(bio);
	ERR_clear_error();
	if (key == NULL) {
		err_set(
		    err, "the private key is not a PEM key without a password");
		return NULL;
	}
	if (EVP_PKEY_base_id(key) == EVP_PKEY_RSA &&
	    EVP_PKEY_bits(key) >= JWT_KEY_BITS_MIN &&
	    EVP_PKEY_bits(key) <= JWT_KEY_BITS_MAX)
		return key;
	err_set(err, "the private key is not an RSA key of %d to %d bits",
	    JWT_KEY_BITS_MIN, JWT_KEY_BITS_MAX);
	EVP_PKEY_free(key);
	return NULL;
}

/* The header as JSON; returns a new text. */
static char *
make_header(struct text key_id)
{
	struct json_memory json;

	json_memory_begin(&json, JSON_STRICT);
	json_begin_object(&json.to);
	json_add_string(&json.to, "alg", "RS256");
	json_add_string(&json.to, "typ", "JWT");
	if (key_id.bytes > 0) {
		json_add_text(&json.to, "kid", key_id);
	}
	json_end_object(&json.to);
	json_memory_end(&json);
	return json.text;
}

/* The signed text: both parts, with room for the signature. */
static char *
make_input(struct text key_id, struct text claims, size_t room, size_t *length)
{
	char *header = make_header(key_id);
	char *token = memory_alloc(room_for(strlen(header)) +
				   room_for(claims.bytes) + room_for(room) + 2);

	*length = encode(token, header, strlen(header));
	token[(*length)++] = '.';
	*length += encode(token + *length, claims.at, claims.bytes);
	free(header);
	return token;
}

static int
sign(EVP_PKEY *key, unsigned char *to, size_t *bytes, const char *input,
    size_t length)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	int ok;

	ok = context != NULL &&
	     EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
	     EVP_DigestSign(
		 context, to, bytes, (const unsigned char *)input, length) == 1;
	EVP_MD_CTX_free(context);
	ERR_clear_error();
	return ok ? 0 : -1;
}

char *
jwt_sign(
    struct text pem, struct text key_id, struct text claims, struct err *err)
{
	unsigned char signature[JWT_KEY_BITS_MAX / 8];
	size_t bytes = sizeof(signature), length;
	EVP_PKEY *key = read_key(pem, err);
	char *token;

	if (key == NULL)
		return NULL;
	token = make_input(key_id, claims, bytes, &length);
	if (sign(key, signature, &bytes, token, length) != 0) {
		free(token);
		token = NULL;
		err_set(err, "cannot sign with the private key");
	} else {
		token[length++] = '.';
		encode(token + length, signature, bytes);
	}
	EVP_PKEY_free(key);
	return token;
}

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
