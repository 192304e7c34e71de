/*
 * copy - a few words from here to there, without a call.
 *
 * Most texts of records are a few words long: a call of memcpy takes longer
 * than to copy them.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_BASE_COPY_H
#define PROTO_BASE_COPY_H

#include <stdint.h>
#include <string.h>

/* What memcpy does; returns what is behind the copy. */
__attribute__((always_inline)) static inline unsigned char *
copy_short(unsigned char *p, const void *text, uint32_t n)
{
	const char *from = text;

	if (n > 32) {
		memcpy(p, from, n);
	} else if (n >= 16) {
		/* Two copies that overlap in the middle; same below. */
		memcpy(p, from, 16);
		memcpy(p + n - 16, from + n - 16, 16);
	} else if (n >= 8) {
		memcpy(p, from, 8);
		memcpy(p + n - 8, from + n - 8, 8);
	} else if (n >= 4) {
		memcpy(p, from, 4);
		memcpy(p + n - 4, from + n - 4, 4);
	} else if (n > 0) {
		p[0] = (unsigned char)from[0];
		p[n / 2] = (unsigned char)from[n / 2];
		p[n - 1] = (unsigned char)from[n - 1];
	}
	return p + n;
}

#endif
