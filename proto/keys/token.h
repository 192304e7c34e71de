/*
 * token - a secret that a client of poolscope-web sends with each request.
 *
 * 32 random bytes, as 64 hexadecimal digits.  DIR/keys/tokens has the form of
 * DIR/keys/allow (authorized_keys.h), with the hash of the token as PUBLIC: who
 * reads that file cannot use what it lists.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_KEYS_TOKEN_H
#define PROTO_KEYS_TOKEN_H

#include "proto/base/text.h"
#include "proto/keys/z85.h"

enum { TOKEN_CHARACTERS = 64 };

/* A new one, with a NUL. */
void token_make(char to[static TOKEN_CHARACTERS + 1]);

/* BLAKE2b of any text. */
void token_hash(unsigned char to[static Z85_KEY_BYTES], struct text token);

#endif
