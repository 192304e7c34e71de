/*
 * crc32c - the Castagnoli checksum.
 *
 * The instruction takes 8 bytes a cycle but has a latency of 3, so long
 * inputs run as three streams that are joined with tables of "append n zero
 * bytes" (a linear map on the checksum; M. Adler's method for zlib's
 * crc32_combine).
 * SPDX-License-Identifier: MIT
 */
#include "proto/base/crc32c.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

enum { POLYNOMIAL = (int)0x82F63B78, STREAM_BYTES = 2048 };

static uint32_t table[256];
static uint32_t shift[4][256]; /* append STREAM_BYTES zeros, by byte */
static bool have_instruction;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t
step_table(uint32_t crc, const unsigned char *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		crc = table[(crc ^ p[i]) & 0xFF] ^ crc >> 8;
	return crc;
}

static void
init(void)
{
	static const unsigned char zeros[STREAM_BYTES];

	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;

		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ (uint32_t)POLYNOMIAL
				      : crc >> 1;
		table[i] = crc;
	}
	/* The map is linear: what two bits give is the sum of what each gives.
	 * Every process pays for this at its start, so 32 walks, not 1,024. */
	for (int byte = 0; byte < 4; byte++)
		for (uint32_t i = 1; i < 256; i++)
			shift[byte][i] =
			    (i & (i - 1)) == 0
				? step_table(i << 8 * byte, zeros, STREAM_BYTES)
				: shift[byte][i & (i - 1)] ^
				      shift[byte][i & -i];
#if defined(__x86_64__)
	have_instruction = __builtin_cpu_supports("sse4.2");
#endif
}

#if defined(__x86_64__)
static uint32_t
append_zeros(uint32_t crc)
{
	return shift[0][crc & 0xFF] ^ shift[1][crc >> 8 & 0xFF] ^
	       shift[2][crc >> 16 & 0xFF] ^ shift[3][crc >> 24];
}

static inline uint64_t
load(const unsigned char *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	return w;
}

__attribute__((target("sse4.2"))) static uint32_t
step_instruction(uint32_t crc32, const unsigned char *p, size_t bytes)
{
	uint64_t crc = crc32;

	while (bytes >= 3 * STREAM_BYTES) {
		uint64_t second = 0, third = 0;

		for (int i = 0; i < STREAM_BYTES; i += 8) {
			crc = __builtin_ia32_crc32di(crc, load(p + i));
			second = __builtin_ia32_crc32di(
			    second, load(p + STREAM_BYTES + i));
			third = __builtin_ia32_crc32di(
			    third, load(p + 2 * STREAM_BYTES + i));
		}
		crc = append_zeros((uint32_t)crc) ^ second;
		crc = append_zeros((uint32_t)crc) ^ third;
		p += 3 * STREAM_BYTES;
		bytes -= 3 * STREAM_BYTES;
	}
	for (; bytes >= 8; p += 8, bytes -= 8)
		crc = __builtin_ia32_crc32di(crc, load(p));
	for (; bytes > 0; p++, bytes--)
		crc = __builtin_ia32_crc32qi((uint32_t)crc, *p);
	return (uint32_t)crc;
}
#endif

uint32_t
crc32c(uint32_t crc, const void *at, size_t bytes)
{
	pthread_once(&once, init);
#if defined(__x86_64__)
	if (have_instruction)
		return ~step_instruction(~crc, at, bytes);
#endif
	return ~step_table(~crc, at, bytes);
}

uint32_t
crc32c_table(uint32_t crc, const void *at, size_t bytes)
{
	pthread_once(&once, init);
	return ~step_table(~crc, at, bytes);
}
