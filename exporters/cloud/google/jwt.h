/*
 * jwt - signed JSON Web Tokens (RFC 7519): RS256, as Google's token service
 * wants them.
 *
 * The only file that knows OpenSSL.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_GOOGLE_JWT_H
#define EXPORTERS_CLOUD_GOOGLE_JWT_H

#include "proto/base/err.h"
#include "proto/base/text.h"

enum { JWT_KEY_BITS_MIN = 2048, JWT_KEY_BITS_MAX = 16384 };

/* Returns a new token, NUL-terminated: the header (with `key_id` in it, unless
 * that is empty) and `claims`, a JSON object, signed with the RSA key in `pem`.
 * NULL: the key is none, or not one that may sign. */
char *jwt_sign(
    struct text pem, struct text key_id, struct text claims, struct err *err);

#endif
