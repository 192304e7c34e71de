/*
 * decode - frames as text or JSON, for people.
 *
 * The input is any number of frames, one after another; a frame carries its
 * length.  Nothing of it is trusted: a frame that is refused is reported with
 * its offset, and decoding goes on with the next one if the length is good.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_DECODE_DECODE_H
#define PROTO_DECODE_DECODE_H

#include <stdbool.h>
#include <stdio.h>

#include "proto/wire/wire.h"

struct decode {
	FILE *file;
	bool as_json;          /* an object a line, else text */
	struct wire_room room; /* all zero to begin with */
};
void decode_clear(struct decode *decode);

/* Print one frame that begins at `offset` of the input.  WIRE_OK, or why it
 * was refused; what could be read of its header is printed all the same. */
enum wire_fault decode_frame(
    struct decode *decode, uint64_t offset, struct text frame);

/* Print all frames of `input`, which has the name `name`.  Faults are logged,
 * -1 counts them. */
int decode_stream(
    struct decode *decode, FILE *input, const char *name, struct err *err);

#endif
