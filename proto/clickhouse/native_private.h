/*
 * native_private - what writer and reader of the format Native share.
 *
 * A block is: varint number of columns, varint number of rows, then each
 * column: name and type as texts, then its values without anything between
 * them.  Numbers are little-endian, a text is a varint of its bytes and the
 * bytes.  An array column has first a UInt64 for each row, the number of
 * elements up to the end of that row's array, then all elements.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CLICKHOUSE_NATIVE_PRIVATE_H
#define PROTO_CLICKHOUSE_NATIVE_PRIVATE_H

#include <stdbool.h>

#include "proto/clickhouse/native.h"

enum native_family { NATIVE_UINT, NATIVE_INT, NATIVE_FLOAT, NATIVE_TEXT };

struct native_shape {
	const char *name;          /* as the server writes it */
	enum native_family family; /* of the values or elements */
	unsigned bytes;            /* of a value or element; 0 for texts */
	bool array;
};

/* Aborts when there is no such type. */
const struct native_shape *native_shape(enum native_type type);

#endif
