/*
 * token - a secret that a client of poolscope-web sends with each request.
 * SPDX-License-Identifier: MIT
 */
#include "proto/keys/token.h"

#include <sodium.h>

#include "proto/hash/hash.h"

void
token_make(char to[static TOKEN_CHARACTERS + 1])
{
	unsigned char random[TOKEN_CHARACTERS / 2];

	hash_random_bytes(random, sizeof(random));
	*text_hex(to, random, sizeof(random)) = '\0';
	sodium_memzero(random, sizeof(random));
}

void
token_hash(unsigned char to[static Z85_KEY_BYTES], struct text token)
{
	crypto_generichash(to, Z85_KEY_BYTES, (const unsigned char *)token.at,
	    token.bytes, NULL, 0);
}
