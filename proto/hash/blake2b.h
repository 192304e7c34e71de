/*
 * blake2b - BLAKE2b without a key, of one piece of memory.
 *
 * M.-J. Saarinen, J.-P. Aumasson, "The BLAKE2 Cryptographic Hash and Message
 * Authentication Code", RFC 7693.  For libpoolscope, which needs nothing but
 * libc; other programs take libsodium's.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_HASH_BLAKE2B_H
#define PROTO_HASH_BLAKE2B_H

#include <stddef.h>

enum { BLAKE2B_BYTES_MAX = 64 };

/* `to_bytes`: 1 to BLAKE2B_BYTES_MAX; hashes of different lengths have nothing
 * in common. */
void blake2b(void *to, size_t to_bytes, const void *from, size_t bytes);

#endif
