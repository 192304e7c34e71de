/*
 * z85 - keys as text: 32 bytes are 40 printable characters (ZeroMQ RFC 32).
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_KEYS_Z85_H
#define PROTO_KEYS_Z85_H

#include "proto/base/text.h"

enum { Z85_KEY_BYTES = 32, Z85_CHARACTERS = 40 };

/* Writes no NUL. */
void z85_encode(
    char to[static Z85_CHARACTERS], const unsigned char from[Z85_KEY_BYTES]);

/* False, and `to` undefined: the text is not 40 characters of the alphabet, or
 * five of them exceed 32 bits.  True: z85_encode would write the same text. */
bool z85_decode(unsigned char to[static Z85_KEY_BYTES], struct text t);

#endif
