/*
 * memory - allocation that cannot fail.
 * SPDX-License-Identifier: MIT
 */
#include "proto/base/memory.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

_Noreturn void
memory_exhausted(size_t bytes)
{
	if (bytes > 0)
		fprintf(stderr,
		    "%s: out of memory: cannot allocate %zu bytes; aborting\n",
		    program_invocation_short_name, bytes);
	else
		fprintf(stderr, "%s: out of memory; aborting\n",
		    program_invocation_short_name);
	abort();
}

void *
memory_alloc(size_t bytes)
{
	void *at = malloc(bytes > 0 ? bytes : 1);

	if (at == NULL)
		memory_exhausted(bytes);
	return at;
}

void *
memory_zero(size_t count, size_t item_bytes)
{
	void *at =
	    calloc(count > 0 ? count : 1, item_bytes > 0 ? item_bytes : 1);

	if (at == NULL)
		memory_exhausted(count * item_bytes);
	return at;
}

void *
memory_resize(void *at, size_t bytes)
{
	at = realloc(at, bytes > 0 ? bytes : 1);
	if (at == NULL)
		memory_exhausted(bytes);
	return at;
}

void *
memory_resize_array(void *at, size_t count, size_t item_bytes)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, item_bytes, &bytes))
		memory_exhausted(0);
	return memory_resize(at, bytes);
}

void *
memory_copy(const void *from, size_t bytes)
{
	void *to = memory_alloc(bytes);

	if (bytes > 0)
		memcpy(to, from, bytes);
	return to;
}

char *
memory_string(const char *string)
{
	return memory_copy(string, strlen(string) + 1);
}

char *
memory_text(struct text text)
{
	char *to = memory_alloc((size_t)text.bytes + 1);

	if (text.bytes > 0)
		memcpy(to, text.at, text.bytes);
	to[text.bytes] = '\0';
	return to;
}

char *
memory_format(const char *format, ...)
{
	va_list arguments;
	char *to = NULL;
	int bytes;

	va_start(arguments, format);
	bytes = vasprintf(&to, format, arguments);
	va_end(arguments);
	if (bytes < 0)
		memory_exhausted(0);
	return to;
}

FILE *
memory_stream(char **at, size_t *bytes)
{
	return memory_must(open_memstream(at, bytes));
}

void
memory_stream_end(FILE **stream)
{
	/* Fails only when memory is exhausted. */
	if (fclose(*stream) != 0)
		memory_exhausted(0);
	*stream = NULL;
}

void *
memory_grow_zero(void *at, uint32_t *room, uint32_t number, size_t item_bytes)
{
	uint32_t before = *room;

	at = memory_grow(at, room, number, item_bytes);
	if (*room > before)
		memset((char *)at + before * item_bytes, 0,
		    (*room - before) * item_bytes);
	return at;
}
