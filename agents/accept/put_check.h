/*
 * put_check - checks a put, wherever it came from: a packet or a file.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_ACCEPT_PUT_CHECK_H
#define AGENTS_ACCEPT_PUT_CHECK_H

#include "proto/wire/wire.h"

/* Everything about the frame and its records.  WIRE_OK: `header` and `plain`
 * (the records) are views into the frame.  Otherwise `header` is what could be
 * read of it, as wire_open says. */
enum wire_fault put_check(struct text frame, struct wire_room *room,
    struct wire_header *header, struct text *plain);

#endif
