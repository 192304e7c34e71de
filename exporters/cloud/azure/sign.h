/*
 * azure_sign - SharedKey signatures for Azure Storage blobs and tables.
 *
 * Microsoft, "Authorize with Shared Key", the formats of 2009-09-19 and later.
 * The signed text contains the account name once if the account has its own
 * host name, and twice if the account is in the path of the address, as
 * emulators require.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_AZURE_SIGN_H
#define EXPORTERS_CLOUD_AZURE_SIGN_H

#include "exporters/cloud/common/sign.h"

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

#endif
