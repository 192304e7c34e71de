/*
 * jwt - signed JSON Web Tokens (RFC 7519): RS256, as Google's token service
 * requires.
 *
 * The only file of this folder that includes OpenSSL.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_GOOGLE_JWT_H
#define EXPORTERS_CLOUD_GOOGLE_JWT_H

#include "proto/base/err.h"
#include "proto/base/text.h"

enum { JWT_KEY_BITS_MIN = 2048, JWT_KEY_BITS_MAX = 16384 };

/* Returns a new NUL-terminated token: a header (with `key_id` unless it is
 * empty) and `claims`, a JSON object, signed with the RSA key in `pem`.  NULL
 * if the key is unusable. */
char *jwt_sign(
    struct text pem, struct text key_id, struct text claims, struct err *err);

#endif
