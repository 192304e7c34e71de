/*
 * decode - print frames as text or JSON.
 *
 * The input is any number of consecutive frames; a frame contains its length.
 * Nothing in it is trusted.  A bad frame is reported with its offset; decoding
 * continues with the next one if the length is within the limits.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_DECODE_DECODE_H
#define PROTO_DECODE_DECODE_H

#include <stdbool.h>
#include <stdio.h>

#include "proto/wire/wire.h"

struct decode {
	FILE *file;
	bool as_json;          /* one JSON object per line, else text */
	struct wire_room room; /* zeroed before its first use */
};
void decode_clear(struct decode *decode);

/* Print one frame, which begins at `offset` of the input.  Returns WIRE_OK or
 * the reason for refusing it; header fields that could be read are printed in
 * either case. */
enum wire_fault decode_frame(
    struct decode *decode, uint64_t offset, struct text frame);

/* Print all frames of `input`, whose name is `name`.  Faults are logged; on -1
 * `err` has their number. */
int decode_stream(
    struct decode *decode, FILE *input, const char *name, struct err *err);

#endif
