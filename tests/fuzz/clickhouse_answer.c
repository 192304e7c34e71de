/*
 * clickhouse_answer - whatever a server answers, an exception is found within
 * its bounds, its words are one line of it, and an address is refused or whole.
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdlib.h>

#include "proto/clickhouse/exception.h"
#include "proto/clickhouse/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text all = { (const char *)data, (uint32_t)size }, end, words;
	char *address;
	struct clickhouse_url url;
	struct err err = { .text = "" };

	if (size > 1 << 16)
		return 0;
	assert(clickhouse_exception_code(all) <= CLICKHOUSE_CODE_MAX);
	words = clickhouse_exception_words(all);
	assert(
	    words.bytes <= all.bytes &&
	    (words.bytes == 0 || memchr(words.at, '\n', words.bytes) == NULL));
	end = clickhouse_exception_at_end(all);
	assert(end.bytes == 0 ||
	       (end.at >= all.at && end.at + end.bytes == all.at + all.bytes &&
		   clickhouse_exception_code(end) != 0));
	address = strndup((const char *)data, size);
	if (clickhouse_url_parse(&url, address, &err) != 0) {
		assert(err.text[0] != '\0');
	} else {
		assert(url.hosts >= 1 && url.hosts <= CLICKHOUSE_HOSTS_MAX);
		assert(clickhouse_name_is_good(text_of(url.database)));
		assert(clickhouse_name_is_good(text_of(url.user)));
		for (unsigned i = 0; i < url.hosts; i++)
			assert(
			    url.host[i].port != 0 &&
			    clickhouse_host_is_good(text_of(url.host[i].name)));
	}
	free(address);
	return 0;
}
