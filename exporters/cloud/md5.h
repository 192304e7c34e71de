/*
 * md5 - checksum with which storage services verify an upload.
 *
 * It detects transmission errors only; it does not protect against tampering.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_MD5_H
#define EXPORTERS_CLOUD_MD5_H

#include "proto/base/err.h"
#include "proto/base/text.h"

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

#endif
