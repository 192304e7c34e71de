/*
 * quantity - a number with the unit that suits its size, for tables.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STATS_QUANTITY_H
#define EXPORTERS_STATS_QUANTITY_H

enum { QUANTITY_TEXT_BYTES = 48 };

/* "999 B", "1.5 kB": powers of 1000, up to PB. */
const char *quantity_bytes(char to[static QUANTITY_TEXT_BYTES], double bytes);

/* "0.0 s", "-29.6 us", "12.3 min": from ns to days. */
const char *quantity_time(char to[static QUANTITY_TEXT_BYTES], double ns);

#endif
