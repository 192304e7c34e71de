/*
 * keyfile - any file is a key that comes back the same, or is refused with
 * its name, and the secret of a public key is its own.
 * SPDX-License-Identifier: MIT
 */
#include "proto/keys/keyfile.h"

#include <assert.h>
#include <sodium.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char public[Z85_KEY_BYTES];
	struct keyfile key;
	struct err err = { 0 };

	if (size > 16384)
		return 0;
	if (keyfile_parse(&key,
		(struct text){ (const char *)data, (uint32_t)size }, "file",
		&err) != 0) {
		assert(strncmp(err.text, "file:", 5) == 0);
		assert(key.secret == NULL);
		return 0;
	}
	assert(keyfile_name_is_good(text_of(key.name)));
	assert((key.role == KEY_SERVER) == (key.servers == 0));
	assert(key.servers <= KEYFILE_SERVERS_MAX);
	crypto_scalarmult_base(public, key.secret);
	assert(memcmp(public, key.public, sizeof(public)) == 0);
	keyfile_clear(&key);
	return 0;
}
