/*
 * result_id - ids of results in a store.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/results/result_id.h"

#include <sodium.h>
#include <string.h>

#include "proto/base/text.h"

enum { NAME_HASH_BYTES = 12, TIME_DIGITS = 16, NUMBER_DIGITS = 5 };

static const char hex[] = "0123456789abcdef";

void
result_id_name(char to[static 25], struct text test, struct text entry)
{
	crypto_generichash_state state;
	unsigned char hash[crypto_generichash_BYTES_MIN];
	/* The length prefix keeps two pairs from being the same text. */
	const unsigned char length[] = { (unsigned char)test.bytes,
		(unsigned char)(test.bytes >> 8),
		(unsigned char)(test.bytes >> 16),
		(unsigned char)(test.bytes >> 24) };

	crypto_generichash_init(&state, NULL, 0, sizeof(hash));
	crypto_generichash_update(&state, length, sizeof(length));
	crypto_generichash_update(
	    &state, (const unsigned char *)test.at, test.bytes);
	crypto_generichash_update(
	    &state, (const unsigned char *)entry.at, entry.bytes);
	crypto_generichash_final(&state, hash, sizeof(hash));
	*text_hex(to, hash, NAME_HASH_BYTES) = '\0';
}

void
result_id_entry(char to[static RESULT_ID_BYTES],
    const char run[static RESULT_ID_RUN_BYTES], struct text test,
    struct text entry, uint32_t number)
{
	char *at = to + RESULT_ID_RUN_BYTES;

	result_id_name(to, test, entry);
	memcpy(to + RESULT_ID_NAME_BYTES, run + RESULT_ID_NAME_BYTES,
	    RESULT_ID_RUN_BYTES - RESULT_ID_NAME_BYTES);
	*at++ = '/';
	for (int i = NUMBER_DIGITS - 1; i >= 0; i--)
		*at++ = hex[number >> 4 * i & 15];
	*at = '\0';
}

void
result_id_time(char to[static 17], int64_t start_us)
{
	/* Flip the sign to order as unsigned numbers, then all bits to reverse
	 * the order. */
	uint64_t digits = ~((uint64_t)start_us ^ UINT64_C(1) << 63);

	for (int i = 0; i < TIME_DIGITS; i++)
		to[i] = hex[digits >> (60 - 4 * i) & 15];
	to[TIME_DIGITS] = '\0';
}

bool
result_id_get_time(struct text digits, int64_t *start_us)
{
	uint64_t value = 0;

	if (digits.bytes != TIME_DIGITS)
		return false;
	for (uint32_t i = 0; i < TIME_DIGITS; i++) {
		char c = digits.at[i];

		if (c >= '0' && c <= '9')
			value = value << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uint64_t)(c - 'a' + 10);
		else
			return false;
	}
	*start_us = (int64_t)(~value ^ UINT64_C(1) << 63);
	return true;
}
