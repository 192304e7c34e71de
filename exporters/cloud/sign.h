/*
 * sign - the parts of requests that signatures cover: the parameters of a
 * query, and headers sorted by name.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_SIGN_H
#define EXPORTERS_CLOUD_SIGN_H

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/http/message.h"

/* Checksum with which storage services verify an upload.
 *
 * It detects transmission errors only; it does not protect against tampering.
 */
enum {
	MD5_BYTES = 16,
	MD5_BASE64_BYTES = 25, /* including the NUL */
	MD5_HEX_BYTES = 33,
};

struct md5; /* opaque: an incremental checksum */

/* -1: OpenSSL on this machine provides no MD5 (FIPS). */
int md5_open(struct md5 **md5, struct err *err);
void md5_add(struct md5 *md5, struct text bytes);
/* Returns the checksum and resets it. */
void md5_end(struct md5 *md5, unsigned char to[static MD5_BYTES]);
void md5_close(struct md5 **md5);

void md5_base64(char to[static MD5_BASE64_BYTES],
    const unsigned char sum[static MD5_BYTES]);
void md5_hex(
    char to[static MD5_HEX_BYTES], const unsigned char sum[static MD5_BYTES]);

enum { SIGN_QUERY_MAX = 32 };

/* "name=value" of a query, or "Name: value" of a header without the blanks
 * around the value. */
struct sign_pair {
	struct text name, value;
};

/* Get the headers sorted by lower-case name, and the parameters of a query
 * sorted by the bytes of their names, then of their values.  Returns the
 * number. */
uint32_t sign_headers(struct sign_pair to[static HTTP_HEADERS_MAX],
    const struct http_request *request);
/* -1: more than SIGN_QUERY_MAX. */
int sign_query(struct sign_pair to[static SIGN_QUERY_MAX], struct text query);

/* The value of a header, case-insensitive; empty if absent. */
struct text sign_find(
    const struct sign_pair *pairs, uint32_t count, const char *name);

char sign_lower(char c);

#endif
