/*
 * crc32c - the Castagnoli checksum.
 *
 * The instruction of x86 and ARMv8 takes 8 bytes a cycle but has a latency of
 * 3, so inputs are processed as three streams, which are joined with tables of
 * "append n zero bytes" (a linear map on the checksum; M. Adler's method for
 * zlib's crc32_combine): long streams first, short ones for the remainder.
 *
 * ISA-L, which uses carry-less multiplication, is 2 to 3 times as fast from 1
 * KiB and slower below 256 bytes.  For a batch of 52 KB it would save a
 * microsecond; checking and decoding its records takes twenty.  That does not
 * justify a library that every program must load.
 * SPDX-License-Identifier: MIT
 */
#include "proto/hash/crc32c.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#if defined(__AARCH64EL__)
#include <sys/auxv.h>
#endif

enum { POLYNOMIAL = (int)0x82F63B78, LONG_BYTES = 2048, SHORT_BYTES = 128 };

/* Tables that append `bytes` zeros, by byte of the checksum. */
typedef uint32_t zeros_table[4][256];

static uint32_t table[256];
static zeros_table append_long, append_short;
static bool have_instruction;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t
step_table(uint32_t crc, const unsigned char *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		crc = table[(crc ^ p[i]) & 0xFF] ^ crc >> 8;
	return crc;
}

static inline uint32_t
append_zeros(zeros_table zeros, uint64_t crc)
{
	return zeros[0][crc & 0xFF] ^ zeros[1][crc >> 8 & 0xFF] ^
	       zeros[2][crc >> 16 & 0xFF] ^ zeros[3][crc >> 24 & 0xFF];
}

static uint32_t
append_short_zeros(uint32_t crc)
{
	static const unsigned char zeros[SHORT_BYTES];

	return step_table(crc, zeros, sizeof(zeros));
}

static uint32_t
append_long_zeros(uint32_t crc)
{
	for (int i = 0; i < LONG_BYTES / SHORT_BYTES; i++)
		crc = append_zeros(append_short, crc);
	return crc;
}

/* The map is linear: the result for two bits is the sum of the results for
 * each. Every process computes this at its start, so 32 bits are mapped, not
 * 1,024 bytes, and many zeros by the map of few. */
static void
init_zeros(zeros_table to, uint32_t (*map)(uint32_t crc))
{
	for (int byte = 0; byte < 4; byte++)
		for (uint32_t i = 1; i < 256; i++)
			to[byte][i] =
			    (i & (i - 1)) == 0
				? map(i << 8 * byte)
				: to[byte][i & (i - 1)] ^ to[byte][i & -i];
}

static void
init(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;

		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ (uint32_t)POLYNOMIAL
				      : crc >> 1;
		table[i] = crc;
	}
	init_zeros(append_short, append_short_zeros);
	init_zeros(append_long, append_long_zeros);
#if defined(__x86_64__)
	have_instruction = __builtin_cpu_supports("sse4.2");
#elif defined(__AARCH64EL__)
	have_instruction = (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#endif
}

#if defined(__x86_64__) || defined(__AARCH64EL__)
#if defined(__x86_64__)
#define INSTRUCTION __attribute__((target("sse4.2")))

INSTRUCTION static inline uint64_t
step8(uint64_t crc, uint64_t word)
{
	return __builtin_ia32_crc32di(crc, word);
}

INSTRUCTION static inline uint64_t
step1(uint64_t crc, unsigned char byte)
{
	return __builtin_ia32_crc32qi((uint32_t)crc, byte);
}
#else
#define INSTRUCTION

static inline uint64_t
step8(uint64_t crc, uint64_t word)
{
	__asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1"
		: "+r"(crc)
		: "r"(word));
	return crc;
}

static inline uint64_t
step1(uint64_t crc, unsigned char byte)
{
	__asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1"
		: "+r"(crc)
		: "r"((uint32_t)byte));
	return crc;
}
#endif

static inline uint64_t
load(const unsigned char *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	return w;
}

/* Three streams of this many bytes. */
INSTRUCTION static inline uint64_t
step_three(
    uint64_t crc, const unsigned char *p, size_t bytes, zeros_table zeros)
{
	uint64_t second = 0, third = 0;

	for (size_t i = 0; i < bytes; i += 8) {
		crc = step8(crc, load(p + i));
		second = step8(second, load(p + bytes + i));
		third = step8(third, load(p + 2 * bytes + i));
	}
	crc = append_zeros(zeros, crc) ^ second;
	return append_zeros(zeros, crc) ^ third;
}

INSTRUCTION static uint32_t
step_instruction(uint32_t crc32, const unsigned char *p, size_t bytes)
{
	uint64_t crc = crc32;

	for (; bytes >= 3 * LONG_BYTES; p += 3 * LONG_BYTES) {
		crc = step_three(crc, p, LONG_BYTES, append_long);
		bytes -= 3 * LONG_BYTES;
	}
	for (; bytes >= 3 * SHORT_BYTES; p += 3 * SHORT_BYTES) {
		crc = step_three(crc, p, SHORT_BYTES, append_short);
		bytes -= 3 * SHORT_BYTES;
	}
	for (; bytes >= 8; p += 8, bytes -= 8)
		crc = step8(crc, load(p));
	for (; bytes > 0; p++, bytes--)
		crc = step1(crc, *p);
	return (uint32_t)crc;
}
#endif

uint32_t
crc32c(uint32_t crc, const void *at, size_t bytes)
{
	pthread_once(&once, init);
#if defined(__x86_64__) || defined(__AARCH64EL__)
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
