/*
 * google_credentials - who one is for Google's services: a service account, and
 * tokens that it gets for a signed request (RFC 7523). SPDX-License-Identifier:
 * MIT
 */
#ifndef EXPORTERS_CLOUD_GOOGLE_CREDENTIALS_H
#define EXPORTERS_CLOUD_GOOGLE_CREDENTIALS_H

#include "exporters/cloud/http/http.h"

enum {
	GOOGLE_TOKEN_BYTES_MAX = 4096,
	GOOGLE_TOKEN_SECONDS_MAX = 24 * 3600,
};

/* What is needed of a credentials file. */
struct google_account {
	char *email, *token_uri;
	char *key_id; /* "" when it has none */
	char *key;    /* PEM; in memory that is zeroed */
};

/* `json` is the file.  -1: what is wrong with it, never with any of it. */
int google_account_read(
    struct google_account *account, struct text json, struct err *err);
/* The file that GOOGLE_APPLICATION_CREDENTIALS names. */
int google_account_open(struct google_account *account, struct err *err);
void google_account_clear(struct google_account *account);

/* All zero to begin with. */
struct google_token {
	char text[GOOGLE_TOKEN_BYTES_MAX + 1];
	int64_t until_ns; /* monotonic: use it before */
};

/* Read the answer of the token service, which came at `now_ns`. */
int google_token_read(struct google_token *token, struct text answer,
    int64_t now_ns, struct err *err);
/* Have one that is good for another minute; asks for it when there is none. */
int google_token_have(struct google_token *token,
    const struct google_account *account, const char *scope, struct http *http,
    struct err *err);
/* The service did not want it. */
void google_token_drop(struct google_token *token);

/* May secrets go there: https, or this machine itself? */
bool google_url_is_safe(const char *url);

#endif
