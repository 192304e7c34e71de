/*
 * top_cell - texts for a screen: any text, cut to columns of the terminal, and
 * numbers in few characters.
 *
 * Text comes from records and is hostile: what is no printable character of one
 * or two columns becomes "?", so that a cell has the width that was asked for
 * whatever it holds.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TOP_CELL_H
#define EXPORTERS_TOP_CELL_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"

enum {
	CELL_COLUMNS_MAX = 512,
	CELL_BYTES = 4 * CELL_COLUMNS_MAX + 1, /* of any cell, with NUL */
	CELL_NUMBER_BYTES = 32,
};

/* A text that is too long loses its middle; with CELL_CUT its end. */
enum cell_side { CELL_LEFT, CELL_RIGHT, CELL_CUT };

/* Put `width` columns of the text, padded if it is shorter.  `ascii`: the
 * terminal shows no other characters. */
void cell_put(char to[static CELL_BYTES], struct text text, unsigned width,
    enum cell_side side, bool ascii);
/* Columns that the text takes. */
unsigned cell_width(struct text text, bool ascii);

/* At most 6 characters; "-": not a number.  "0.4s", "12s", "18min", "3.2h",
 * "-29us". */
const char *cell_time(char to[static CELL_NUMBER_BYTES], double seconds);
/* "61%" */
const char *cell_share(char to[static CELL_NUMBER_BYTES], double share);
/* "12KiB" */
const char *cell_bytes(char to[static CELL_NUMBER_BYTES], double bytes);
/* "20.1k" */
const char *cell_count(char to[static CELL_NUMBER_BYTES], double count);
/* "12.3", as many decimals as fit. */
const char *cell_number(char to[static CELL_NUMBER_BYTES], double number);

#endif
