/*
 * azure_sign - who asks Azure Storage: SharedKey for blobs and tables.
 *
 * Microsoft, "Authorize with Shared Key", the formats of 2009-09-19 and later.
 * On a host of its own an account stands once in what is signed; with its name
 * in the path of the address, as emulators want it, twice.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_AZURE_SIGN_H
#define EXPORTERS_CLOUD_AZURE_SIGN_H

#include "exporters/cloud/http/sign.h"

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

/* The key as it is given out, in base64.  -1: it is none; which it was is not
 * said. */
int sign_azure_set_key(
    struct sign_azure *who, struct text base64, struct err *err);

/* "Authorization: SharedKey ..." for the request with the headers that it
 * has, x-ms-date among them. */
int sign_azure(const struct sign_azure *who, const struct http_request *request,
    char header[static SIGN_AZURE_HEADER_BYTES], struct err *err);

#endif
