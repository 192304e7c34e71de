/*
 * put_check - checks a submission from a packet or a file.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_ACCEPT_PUT_CHECK_H
#define AGENTS_ACCEPT_PUT_CHECK_H

#include <sys/types.h>

#include "proto/base/err.h"
#include "proto/wire/wire.h"

/* May this user submit these records?  Metric groups of the agent are defined
 * and filled by its own user and root only.  -1: the error
 * names the group. */
int put_check_user(uid_t uid, const struct wire_header *header,
    struct text plain, struct err *err);

/* Checks the frame and its records.  WIRE_OK: `header` and `plain` (the
 * records) are views into the frame.  Otherwise `header` has what could be
 * read of it, as with wire_open. */
enum wire_fault put_check(struct text frame, struct wire_room *room,
    struct wire_header *header, struct text *plain);

#endif
