/*
 * client_clean_name - makes valid names from those that programs give.
 * SPDX-License-Identifier: MIT
 */
#include "agents/client/clean_name.h"

/* The bytes of the valid character at `from`, or 0.  A name has no control
 * characters. */
static uint32_t
character(const char *from, uint32_t left, bool name)
{
	for (uint32_t n = 1; n <= 4 && n <= left; n++) {
		struct text t = { from, n };

		if (name ? text_check_name(t) == TEXT_OK : text_is_utf8(t))
			return n;
	}
	return 0;
}

/* "?" for each bad byte.  Removes an incomplete character at the end. */
static struct text
repair(char *to, struct text from, bool name)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < from.bytes;) {
		uint32_t n = character(from.at + i, from.bytes - i, name);

		if (n > 0)
			memcpy(to + used, from.at + i, n);
		else
			to[used] = '?';
		used += n > 0 ? n : 1;
		i += n > 0 ? n : 1;
	}
	return (struct text){ to, used };
}

struct text
client_name(char to[static NAME_BYTES_MAX], struct text from)
{
	if (from.bytes > NAME_BYTES_MAX)
		from.bytes = NAME_BYTES_MAX;
	if (from.bytes == 0)
		return text_of("?");
	return text_check_name(from) == TEXT_OK ? from : repair(to, from, true);
}

struct text
client_utf8(char *to, struct text from)
{
	return repair(to, from, false);
}

void
client_take_part(char to[static CLIENT_PART_BYTES_MAX + 1], struct text from)
{
	char repaired[NAME_BYTES_MAX];
	struct text part;

	if (from.bytes > CLIENT_PART_BYTES_MAX)
		from.bytes = CLIENT_PART_BYTES_MAX;
	part = client_name(repaired, from);
	memcpy(to, part.at, part.bytes);
	to[part.bytes] = '\0';
	for (char *slash = to; (slash = strchr(slash, '/')) != NULL;)
		*slash = '_';
}
