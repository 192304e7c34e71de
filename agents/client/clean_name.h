/*
 * client_clean_name - makes valid names from those that programs give.
 *
 * The agent refuses a batch with one invalid name in it, and a program gets no
 * errors about its names while it runs: so "?" replaces each bad byte, and
 * long names are cut.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_CLIENT_CLEAN_NAME_H
#define AGENTS_CLIENT_CLEAN_NAME_H

#include "proto/base/text.h"

enum { CLIENT_PART_BYTES_MAX = 120 }; /* half of a track */

/* `from` if it is a valid name; otherwise repaired, in `to`. */
struct text client_name(char to[static NAME_BYTES_MAX], struct text from);

/* `from` without bytes that are not UTF-8; `to` has room for the same
 * length. */
struct text client_utf8(char *to, struct text from);

/* Half of a track: a name without a slash. */
void client_take_part(
    char to[static CLIENT_PART_BYTES_MAX + 1], struct text from);

#endif
