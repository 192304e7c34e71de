/*
 * client_clean_name - names as programs give them, made into good ones.
 *
 * The agent refuses a batch with one bad name in it, and a program is not
 * reported about its names while it runs: so "?" stands for each bad byte, and
 * what is too long is cut. SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_CLIENT_CLEAN_NAME_H
#define AGENTS_CLIENT_CLEAN_NAME_H

#include "proto/base/text.h"

enum { CLIENT_PART_BYTES_MAX = 120 }; /* half of a track */

/* `from` when it is a name; else repaired, in `to`. */
struct text client_name(char to[static NAME_BYTES_MAX], struct text from);

/* `from` without bytes that are not UTF-8; `to` has room for as many. */
struct text client_utf8(char *to, struct text from);

/* Half of a track: a name without a slash. */
void client_take_part(
    char to[static CLIENT_PART_BYTES_MAX + 1], struct text from);

#endif
