/*
 * web_body - the bytes of an answer, shared by those who get it.
 *
 * Nothing in it changes once it is made; any thread may hold and drop it.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_WEB_BODY_H
#define EXPORTERS_WEB_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct web_body {
	const unsigned char *at, *gzip; /* gzip: NULL if it is not smaller */
	size_t bytes, gzip_bytes;
	_Atomic uint32_t holders;
	bool is_static; /* `at` is not freed */
};

/* Takes `at`, and compresses it. */
struct web_body *web_body_new(char *at, size_t bytes);
/* Of bytes that live as long as the process. */
struct web_body *web_body_new_static(const unsigned char *at, size_t bytes);

void web_body_hold(struct web_body *body);
/* NULL is nothing; the last one frees it. */
void web_body_drop(struct web_body **body);

/* What it takes of memory, and what all take that are held. */
size_t web_body_memory(const struct web_body *body);
size_t web_body_memory_of_all(void);

#endif
