/*
 * web_url - the target of a request: a path of segments, and parameters.
 *
 *     /v1/pools/acct%24pool/phases?by=node&top=5
 *
 * Segments and parameters are decoded (%41, and + for a blank in a parameter);
 * what they hold is UTF-8 without control characters.  The bytes come from
 * anybody.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_WEB_URL_H
#define EXPORTERS_WEB_URL_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

enum {
	WEB_URL_BYTES_MAX = 8 << 10,
	WEB_URL_SEGMENTS_MAX = 16,
	WEB_URL_PARAMETERS_MAX = 64,
};

struct web_parameter {
	const char *name, *value; /* NUL-terminated */
};

/* The texts lie in `decoded`: a struct web_url must not be copied. */
struct web_url {
	const char *segments[WEB_URL_SEGMENTS_MAX];
	uint32_t segment_count;
	struct web_parameter parameters[WEB_URL_PARAMETERS_MAX];
	uint32_t parameter_count;
	/* Decoded, with a NUL behind each text. */
	char decoded[WEB_URL_BYTES_MAX + WEB_URL_SEGMENTS_MAX +
		     2 * WEB_URL_PARAMETERS_MAX];
	size_t used;
};

/* -1: the sentence says what is wrong, and where. */
int web_url_parse(struct web_url *url, struct text target, struct err *err);

/* Write a text as a segment or a value: letters, digits and -._~ as they are.
 * Returns the end; `to` needs three bytes for each. */
char *web_url_encode(char *to, struct text t);

#endif
