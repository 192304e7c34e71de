/*
 * csv - rows for spreadsheets (RFC 4180: CRLF, quotes doubled).
 *
 * Text that begins with = + - @ TAB or CR gets a ' in front, because a
 * spreadsheet would evaluate it as a formula.  Numbers are not prefixed.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_FORMAT_CSV_H
#define PROTO_FORMAT_CSV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "proto/base/text.h"

struct csv {
	FILE *file;
	bool filled; /* the current row has a cell */
};

void csv_text(struct csv *csv, struct text value);
void csv_string(struct csv *csv, const char *value);
/* The titles of columns, with a blank between them; ends no row. */
void csv_titles(struct csv *csv, const char *titles);
void csv_int(struct csv *csv, int64_t value);
void csv_uint(struct csv *csv, uint64_t value);
void csv_float(struct csv *csv, double value);
/* A number, given as digits. */
void csv_number(struct csv *csv, struct text digits);
void csv_none(struct csv *csv);
void csv_end_row(struct csv *csv);

#endif
