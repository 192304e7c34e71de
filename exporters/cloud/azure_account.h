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

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/http/http.h"
#include "proto/keys/secret.h"

/* The blocks of a blob that Azure Storage already stores. */
enum {
	AZURE_BLOCK_ID_BYTES = 33, /* base64 of 24 bytes, and a NUL */
	/* The limit of the service: 50,000 committed and 100,000
	 * uncommitted. */
	AZURE_BLOCKS_MAX = 150000,
};

struct azure_block {
	char id[AZURE_BLOCK_ID_BYTES];
	uint64_t bytes;
};

struct azure_blocks {
	struct azure_block
	    *at; /* ordered by id, without the blocks of other programs */
	uint32_t count, room;
};

/* Parse the answer to "Get Block List".  Zero `blocks` before, clear them
 * after. */
int azure_blocks_read(
    struct azure_blocks *blocks, struct text body, struct err *err);
void azure_blocks_clear(struct azure_blocks *blocks);
/* Is there a block with this id and size? */
bool azure_blocks_have(
    const struct azure_blocks *blocks, const char *id, uint64_t bytes);

/* The id of a part: its number and a hash of its content.  The same part is
 * recognized in a later attempt, and no other part is mistaken for it. */
void azure_block_id(
    char to[static AZURE_BLOCK_ID_BYTES], uint32_t number, struct text body);

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
