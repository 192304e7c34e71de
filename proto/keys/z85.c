/*
 * z85 - keys as text.
 * SPDX-License-Identifier: MIT
 */
#include "proto/keys/z85.h"

enum { GROUPS = Z85_KEY_BYTES / 4, BASE = 85 };

static const char digits[] =
    "0123456789abcdefghijklmnopqrstuvwxyz"
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

void
z85_encode(
    char to[static Z85_CHARACTERS], const unsigned char from[Z85_KEY_BYTES])
{
	for (int group = 0; group < GROUPS; group++, from += 4, to += 5) {
		uint32_t value = (uint32_t)from[0] << 24 |
				 (uint32_t)from[1] << 16 |
				 (uint32_t)from[2] << 8 | from[3];

		for (int i = 4; i >= 0; i--, value /= BASE)
			to[i] = digits[value % BASE];
	}
}

bool
z85_decode(unsigned char to[static Z85_KEY_BYTES], struct text t)
{
	if (t.bytes != Z85_CHARACTERS)
		return false;
	for (int group = 0; group < GROUPS; group++, to += 4) {
		uint64_t value = 0;

		for (int i = 0; i < 5; i++) {
			char c = t.at[group * 5 + i];
			const char *digit = strchr(digits, c);

			if (c == '\0' || digit == NULL)
				return false;
			value = value * BASE + (uint64_t)(digit - digits);
		}
		if (value > UINT32_MAX)
			return false;
		for (int i = 0; i < 4; i++)
			to[i] = (unsigned char)(value >> (24 - 8 * i));
	}
	return true;
}
