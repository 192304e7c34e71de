/*
 * crc32c - the Castagnoli checksum of frames, spool segments and store rows.
 *
 * Polynomial 0x1EDC6F41 reflected, initial value and final xor 0xFFFFFFFF (RFC
 * 3720, appendix B.4: "123456789" gives E3069283).  Uses the SSE4.2 or ARMv8
 * instruction if the processor has it.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_HASH_CRC32C_H
#define PROTO_HASH_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of `bytes` bytes at `at`, continued from `crc` (initially 0):
 * the checksum of a concatenation is crc32c(crc32c(0, a), b). */
uint32_t crc32c(uint32_t crc, const void *at, size_t bytes);

/* The same without the instruction: the reference for the tests. */
uint32_t crc32c_table(uint32_t crc, const void *at, size_t bytes);

#endif
