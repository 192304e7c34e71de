/*
 * md5 - the sum that storage services compare what they got with.
 *
 * For transport only: it keeps nobody from putting something else there.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_HTTP_MD5_H
#define EXPORTERS_CLOUD_HTTP_MD5_H

#include "proto/base/err.h"
#include "proto/base/text.h"

enum {
	MD5_BYTES = 16,
	MD5_BASE64_BYTES = 25, /* with its NUL, as these */
	MD5_HEX_BYTES = 33,
};

struct md5; /* opaque: a sum of bytes as they come */

/* -1: this machine's OpenSSL gives no MD5 (FIPS). */
int md5_open(struct md5 **md5, struct err *err);
void md5_add(struct md5 *md5, struct text bytes);
/* The sum so far; begins anew. */
void md5_end(struct md5 *md5, unsigned char to[static MD5_BYTES]);
void md5_close(struct md5 **md5);

void md5_base64(char to[static MD5_BASE64_BYTES],
    const unsigned char sum[static MD5_BYTES]);
void md5_hex(
    char to[static MD5_HEX_BYTES], const unsigned char sum[static MD5_BYTES]);

#endif
