/*
 * google_credentials - authentication to Google's services: a service account,
 * and access tokens obtained with a signed request (RFC 7523).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_GOOGLE_CREDENTIALS_H
#define EXPORTERS_CLOUD_GOOGLE_CREDENTIALS_H

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/http/http.h"

enum {
	GOOGLE_TOKEN_BYTES_MAX = 4096,
	GOOGLE_TOKEN_SECONDS_MAX = 24 * 3600,
};

/* The required members of a credentials file. */
struct google_account {
	char *email, *token_uri;
	char *key_id; /* "" if the file has none */
	char *key;    /* PEM; its memory is zeroed when freed */
};

/* Parse the file `json`.  Returns -1 on error; the message never quotes the
 * file. */
int google_account_read(
    struct google_account *account, struct text json, struct err *err);
/* Read the file named by GOOGLE_APPLICATION_CREDENTIALS. */
int google_account_open(struct google_account *account, struct err *err);
void google_account_clear(struct google_account *account);

/* Initialize to zero. */
struct google_token {
	char text[GOOGLE_TOKEN_BYTES_MAX + 1];
	int64_t until_ns; /* monotonic time until which the token may be used */
};

/* Parse the answer of the token service, received at `now_ns`. */
int google_token_read(struct google_token *token, struct text answer,
    int64_t now_ns, struct err *err);
/* Ensure a token valid for at least another minute; requests one if needed. */
int google_token_have(struct google_token *token,
    const struct google_account *account, const char *scope, struct http *http,
    struct err *err);
/* Discard a token that the service rejected. */
void google_token_drop(struct google_token *token);

/* May secrets be sent there: is it https, or this machine? */
bool google_url_is_safe(const char *url);

/*
 * Signed JSON Web Tokens (RFC 7519): RS256, as Google's token service
 * requires.
 */

/* Returns a new NUL-terminated token: a header (with `key_id` unless it is
 * empty) and `claims`, a JSON object, signed with the RSA key in `pem`.  NULL
 * if the key is unusable. */
char *jwt_sign(
    struct text pem, struct text key_id, struct text claims, struct err *err);

#endif
