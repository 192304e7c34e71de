/*
 * azure_account - an Azure Storage account configured in the environment.
 *
 * AZURE_STORAGE_ACCOUNT with AZURE_STORAGE_KEY (or _KEY_FILE), or with
 * AZURE_STORAGE_SAS_TOKEN (or _FILE); AZURE_STORAGE_BLOB_ENDPOINT and
 * AZURE_STORAGE_TABLE_ENDPOINT replace the addresses of Azure
 * ("http://127.0.0.1:10002/ACCOUNT" for an emulator).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_AZURE_ACCOUNT_H
#define EXPORTERS_CLOUD_AZURE_ACCOUNT_H

#include "proto/http/http.h"
#include "proto/keys/secret.h"

/*
 * SharedKey signatures for Azure Storage blobs and tables.
 *
 * Microsoft, "Authorize with Shared Key", the formats of 2009-09-19 and later.
 * The signed text contains the account name once if the account has its own
 * host name, and twice if the account is in the path of the address, as
 * emulators require.
 */

enum sign_azure_service { SIGN_AZURE_BLOB, SIGN_AZURE_TABLE };

enum {
	SIGN_AZURE_KEY_BYTES_MAX = 256,
	SIGN_AZURE_HEADER_BYTES = 160,
};

struct sign_azure {
	enum sign_azure_service service;
	const char *account; /* 3 to 24 characters */
	unsigned char key[SIGN_AZURE_KEY_BYTES_MAX];
	size_t key_bytes;
};

/* Decode the base64 key.  Returns -1 if it is invalid; the message does not
 * quote it. */
int sign_azure_set_key(
    struct sign_azure *who, struct text base64, struct err *err);

/* Make "Authorization: SharedKey ..." for the request with its headers, which
 * include x-ms-date. */
int sign_azure(const struct sign_azure *who, const struct http_request *request,
    char header[static SIGN_AZURE_HEADER_BYTES], struct err *err);

enum { AZURE_URL_BYTES = 8192, AZURE_HEADERS_MAX = 12 };

struct azure {
	struct http *http;
	struct sign_azure who;
	struct secret sas; /* without its question mark; NULL: use the key */
	char account[64], base[512], date[64];
	char url[AZURE_URL_BYTES + SECRET_BYTES_MAX];
	char header[SIGN_AZURE_HEADER_BYTES];
	struct http_request request; /* the last request */
	/* Headers of the request; the signature follows them. */
	uint32_t count;
};

/* Zero the account first; call azure_close whatever azure_open returns. */
int azure_open(struct azure *azure, enum sign_azure_service service,
    const struct http_options *how, struct err *err);
void azure_close(struct azure *azure);

/* `path` begins with a slash and is encoded, including its query; `headers`
 * end with NULL.  Returns 0 for any answer, whatever its status. */
int azure_send(struct azure *azure, const char *method, const char *path,
    const char *const *headers, struct text body, struct http_answer *answer,
    struct err *err);
/* Describe an unexpected answer in `err`.  Returns -1. */
int azure_refused(const struct azure *azure, const struct http_answer *answer,
    struct err *err);

#endif
