/*
 * clickhouse_native - rows as text to a block of the format Native, and an
 * answer in Native to rows as text.
 *
 *	clickhouse_native write NAME TYPE... <ROWS >BLOCK
 *	clickhouse_native read NAME TYPE... <ANSWER >ROWS
 *	clickhouse_native most >BLOCK      a column n of as many rows as may be
 *
 * A row is a line, its fields are divided by tabs: numbers are decimal, floats
 * their 64 bits as a number, texts pairs of hexadecimal digits; an array is
 * its number of elements, a colon, and the elements with commas between them.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/clickhouse/native_read.h"

static const char *const types[] = {
	[NATIVE_UINT8] = "UInt8",
	[NATIVE_UINT16] = "UInt16",
	[NATIVE_UINT32] = "UInt32",
	[NATIVE_UINT64] = "UInt64",
	[NATIVE_INT32] = "Int32",
	[NATIVE_INT64] = "Int64",
	[NATIVE_FLOAT64] = "Float64",
	[NATIVE_STRING] = "String",
	[NATIVE_UINT8_ARRAY] = "Array(UInt8)",
	[NATIVE_UINT64_ARRAY] = "Array(UInt64)",
	[NATIVE_FLOAT64_ARRAY] = "Array(Float64)",
	[NATIVE_STRING_ARRAY] = "Array(String)",
};

static struct native_column columns[NATIVE_COLUMNS_MAX];
static unsigned count;

_Noreturn static void
wrong(const char *what)
{
	fprintf(stderr, "clickhouse_native: %s\n", what);
	exit(1);
}

static void
parse_columns(char **words)
{
	for (; words[0] && words[1] && count < NATIVE_COLUMNS_MAX; words += 2) {
		unsigned type = 0;

		while (strcmp(types[type], words[1]) != 0)
			if (++type > NATIVE_STRING_ARRAY)
				wrong("no such type");
		columns[count++] = (struct native_column){ words[0], type };
	}
	if (words[0] != NULL || count == 0)
		wrong("columns are NAME TYPE...");
}

static void
write_block(struct native_block *block)
{
	struct buffer bytes = { 0 };
	size_t announced = native_bytes(block);

	native_encode(block, &bytes);
	if (bytes.bytes != announced)
		wrong("a block is longer or shorter than announced");
	if (fwrite(bytes.at, 1, bytes.bytes, stdout) != bytes.bytes ||
	    fflush(stdout) != 0)
		wrong("cannot write the block");
	buffer_clear(&bytes);
}

/* Put the value at the front of *field, and take it from there. */
static void
put_value(struct native_block *block, unsigned column, char **field)
{
	static unsigned char bytes[64 << 10];
	struct text digits;
	uint64_t bits;
	double number;

	switch (columns[column].type) {
	case NATIVE_INT32:
	case NATIVE_INT64:
		native_put_int(block, column, strtoll(*field, field, 10));
		break;
	case NATIVE_FLOAT64:
	case NATIVE_FLOAT64_ARRAY:
		bits = strtoull(*field, field, 10);
		memcpy(&number, &bits, sizeof(number));
		native_put_float(block, column, number);
		break;
	case NATIVE_STRING:
	case NATIVE_STRING_ARRAY:
		digits = (struct text){ *field,
			(uint32_t)strspn(*field, "0123456789abcdef") };
		if (digits.bytes / 2 > sizeof(bytes) ||
		    !text_unhex(bytes, digits.bytes / 2, digits))
			wrong("a text is too long, or of other digits");
		*field += digits.bytes;
		native_put_text(block, column,
		    (struct text){ (char *)bytes, digits.bytes / 2 });
		break;
	default: native_put_uint(block, column, strtoull(*field, field, 10));
	}
}

static void
put_field(struct native_block *block, unsigned column, char *field)
{
	unsigned long elements;

	if (columns[column].type < NATIVE_UINT8_ARRAY) {
		put_value(block, column, &field);
	} else {
		elements = strtoul(field, &field, 10);
		for (unsigned long i = 0; i < elements; i++) {
			if (*field++ != (i == 0 ? ':' : ','))
				wrong("an array has too few elements");
			put_value(block, column, &field);
		}
		native_end_array(block, column);
		field += elements == 0 && *field == ':';
	}
	if (*field != '\0')
		wrong("a field has more than its value");
}

static void
write_rows(void)
{
	struct native_block *block = native_block_open(columns, count);
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, stdin) > 0) {
		char *rest = line, *field;
		unsigned column = 0;

		line[strcspn(line, "\n")] = '\0';
		while ((field = strsep(&rest, "\t")) != NULL) {
			if (column == count)
				wrong("a row has too many fields");
			put_field(block, column++, field);
		}
		if (column < count)
			wrong("a row has too few fields");
	}
	write_block(block);
	native_block_close(&block);
	free(line);
}

static void
print_value(const struct native_reader *r, unsigned column, uint32_t i)
{
	struct text text;
	uint64_t bits;
	double number;
	char *digits;

	switch (columns[column].type) {
	case NATIVE_INT32:
	case NATIVE_INT64:
		printf("%" PRId64, native_read_int(r, column, i));
		break;
	case NATIVE_FLOAT64:
	case NATIVE_FLOAT64_ARRAY:
		number = native_read_float(r, column, i);
		memcpy(&bits, &number, sizeof(bits));
		printf("%" PRIu64, bits);
		break;
	case NATIVE_STRING:
	case NATIVE_STRING_ARRAY:
		text = native_read_text(r, column, i);
		digits = memory_alloc(2 * (size_t)text.bytes);
		text_hex(digits, text.at, text.bytes);
		fwrite(digits, 1, 2 * (size_t)text.bytes, stdout);
		free(digits);
		break;
	default: printf("%" PRIu64, native_read_uint(r, column, i));
	}
}

static void
print_row(const struct native_reader *r, uint32_t row)
{
	for (unsigned i = 0; i < count; i++) {
		uint32_t first, elements;

		if (i > 0)
			putchar('\t');
		if (columns[i].type < NATIVE_UINT8_ARRAY) {
			print_value(r, i, row);
			continue;
		}
		elements = native_read_array(r, i, row, &first);
		printf("%" PRIu32 ":", elements);
		for (uint32_t k = 0; k < elements; k++) {
			if (k > 0)
				putchar(',');
			print_value(r, i, first + k);
		}
	}
	putchar('\n');
}

/* Pieces of 1 to 4093 bytes, as a network may cut an answer. */
static void
read_rows(void)
{
	struct native_reader *r = native_read_open(columns, count);
	char room[4093];
	size_t bytes, next = 1;
	struct err err = { 0 };
	int got = 0;

	while (got == 0 && (bytes = fread(room, 1, next, stdin)) > 0) {
		struct text piece = { room, (uint32_t)bytes };

		while ((got = native_read_next(r, &piece, &err)) == 1)
			for (uint32_t i = 0; i < native_read_rows(r); i++)
				print_row(r, i);
		next = next * 2 % sizeof(room);
	}
	if (got < 0 || native_read_end(r, &err) != 0)
		wrong(err.text);
	if (fflush(stdout) != 0)
		wrong("cannot write the rows");
	native_read_close(&r);
}

static void
write_most(void)
{
	struct native_block *block;

	columns[0] = (struct native_column){ "n", NATIVE_UINT32 };
	block = native_block_open(columns, 1);
	for (uint32_t i = 0; i < NATIVE_ROWS_MAX; i++)
		native_put_uint(block, 0, i);
	write_block(block);
	native_block_close(&block);
}

int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "most") == 0) {
		write_most();
		return 0;
	}
	if (argc < 2)
		wrong("write, read or most");
	parse_columns(argv + 2);
	if (strcmp(argv[1], "write") == 0)
		write_rows();
	else if (strcmp(argv[1], "read") == 0)
		read_rows();
	else
		wrong("write, read or most");
	return 0;
}
