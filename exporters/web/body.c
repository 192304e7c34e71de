/*
 * web_body - the bytes of an answer, shared by those who get it.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/web/body.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/stream/compress_block.h"

/* Bodies from this size on are worth compressing. */
enum { WEB_BODY_GZIP_FROM = 1 << 10 };

static _Atomic size_t all;

static void
compress(struct web_body *body, enum compress_effort effort)
{
	unsigned char *packed;
	size_t bytes;

	if (body->bytes < WEB_BODY_GZIP_FROM)
		return;
	packed = compress_gzip(body->at, body->bytes, effort, &bytes);
	if (bytes >= body->bytes) {
		free(packed);
		return;
	}
	body->gzip = memory_resize(packed, bytes);
	body->gzip_bytes = bytes;
}

struct web_body *
web_body_new(char *at, size_t bytes)
{
	struct web_body *body = memory_zero(1, sizeof(*body));

	body->at = (unsigned char *)at;
	body->bytes = bytes;
	body->holders = 1;
	compress(body, COMPRESS_FAST);
	atomic_fetch_add(&all, web_body_memory(body));
	return body;
}

struct web_body *
web_body_new_static(const unsigned char *at, size_t bytes)
{
	struct web_body *body = memory_zero(1, sizeof(*body));

	body->at = at;
	body->bytes = bytes;
	body->holders = 1;
	body->is_static = true;
	compress(body, COMPRESS_SMALL);
	atomic_fetch_add(&all, web_body_memory(body));
	return body;
}

void
web_body_hold(struct web_body *body)
{
	atomic_fetch_add(&body->holders, 1);
}

void
web_body_drop(struct web_body **body)
{
	struct web_body *old = *body;

	*body = NULL;
	if (old == NULL || atomic_fetch_sub(&old->holders, 1) > 1)
		return;
	atomic_fetch_sub(&all, web_body_memory(old));
	if (!old->is_static)
		free((void *)(uintptr_t)old->at);
	free((void *)(uintptr_t)old->gzip);
	free(old);
}

size_t
web_body_memory(const struct web_body *body)
{
	return sizeof(*body) + body->bytes + body->gzip_bytes;
}

size_t
web_body_memory_of_all(void)
{
	return atomic_load(&all);
}
