/*
 * http - whatever a service answers is read within its bounds, and what is
 * shown of it has nothing of the request's secret.
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdlib.h>

#include "proto/http/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct http_request request = { .url = "http://a/",
		.headers = { "Authorization: Bearer q7Q8z9" } };
	struct text all = { (const char *)data, (uint32_t)size };
	char said[HTTP_EXCERPT_BYTES], place[HTTP_DISPLAY_URL_BYTES],
	    encoded[256], *url;
	struct http_address address;
	struct err err = { .text = "" };

	if (size > 1 << 16)
		return 0;
	http_excerpt(said, all, &request);
	assert(strstr(said, "q7Q8z9") == NULL);
	http_encode(encoded, sizeof(encoded), all, "/");
	url = strndup((const char *)data, size);
	assert(strlen(http_display_url(place, url)) < HTTP_DISPLAY_URL_BYTES);
	assert(strchr(place, '?') == NULL);
	if (http_address_open(&address, url, &err) == 0)
		assert(address.host != NULL && address.path[0] == '/' &&
		       strncmp(url, address.scheme, 4) == 0);
	else
		assert(err.text[0] != '\0');
	http_address_close(&address);
	free(url);
	return 0;
}
