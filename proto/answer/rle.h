/*
 * rle - small numbers as runs: of one number, or of packed bits.
 *
 * "Run Length Encoding / Bit-Packing Hybrid (RLE = 3)" of Parquet's
 * "Encodings.md", without a length in front.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_ANSWER_RLE_H
#define PROTO_ANSWER_RLE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/buffer.h"

/* The bits that a number up to `max` has; 0 has none. */
unsigned rle_width(uint32_t max);

/* Numbers of `width` bits. */
void rle_put(
    struct buffer *to, const uint32_t *numbers, uint32_t count, unsigned width);
/* The same of width 1: `count` equal bits; those of a bitmap, low ones first,
 * with zeros behind them up to a byte. */
void rle_put_same(struct buffer *to, bool bit, uint32_t count);
void rle_put_bits(struct buffer *to, const unsigned char *bits, uint32_t count);

#endif
