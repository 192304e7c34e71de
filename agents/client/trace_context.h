/*
 * trace_context - where a span belongs: the W3C Trace Context.
 *
 * 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
 * https://www.w3.org/TR/trace-context/, section 3.2.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_CLIENT_TRACE_CONTEXT_H
#define AGENTS_CLIENT_TRACE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

enum {
	TRACE_CONTEXT_BYTES = 16,
	TRACE_CONTEXT_PARENT_BYTES = 56, /* of version 00, with the NUL */
};

struct trace_context {
	unsigned char id[TRACE_CONTEXT_BYTES];
	uint64_t span; /* 0: none */
	uint8_t flags;
};

/* False, and `trace_context` is unchanged, when the text is invalid: its
 * length is not that of its version, a digit is not 0-9a-f, an id is zero,
 * version ff. */
bool trace_context_parse(struct trace_context *trace_context, const char *text);

/* Write as version 00. */
void trace_context_text(char to[static TRACE_CONTEXT_PARENT_BYTES],
    const struct trace_context *trace_context);

/* Lower-case hexadecimal digits, no NUL, the high ones first. */
void trace_context_hex_span(char to[static 16], uint64_t span);

/* A trace of random bits without a span. */
void trace_context_random(struct trace_context *trace_context);

#endif
