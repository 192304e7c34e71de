/*
 * judge_crc - CRC32C once more, for who judges a file: eight bytes a step, by
 * tables that are made bit by bit (M. Kounavis, F. Berry, 2005: slicing).
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FUZZ_JUDGE_CRC_H
#define TESTS_FUZZ_JUDGE_CRC_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static uint32_t judge_crc_table[8][256];

static inline void
judge_crc_make(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;

		for (int bit = 0; bit < 64; bit++) {
			crc =
			    (crc & 1) != 0 ? crc >> 1 ^ 0x82F63B78U : crc >> 1;
			if (bit % 8 == 7)
				judge_crc_table[bit / 8][i] = crc;
		}
	}
}

static inline uint32_t
judge_crc(uint32_t crc, const void *from, size_t bytes)
{
	const unsigned char *at = from;

	if (judge_crc_table[0][1] == 0)
		judge_crc_make();
	crc = ~crc;
	for (; bytes >= 8; bytes -= 8, at += 8) {
		uint64_t word;

		memcpy(&word, at, sizeof(word));
		word = le64toh(word) ^ crc;
		crc = 0;
		for (int i = 0; i < 8; i++)
			crc ^= judge_crc_table[7 - i][word >> 8 * i & 0xFF];
	}
	for (; bytes > 0; bytes--, at++)
		crc = judge_crc_table[0][(crc ^ *at) & 0xFF] ^ crc >> 8;
	return ~crc;
}

#endif
