/*
 * web_access - who may ask, and for which partitions.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/web/access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "proto/base/memory.h"
#include "proto/base/text.h"
#include "proto/hash/hash.h"

enum { OWN_BYTES = 32 };

struct web_access {
	char own[2 * OWN_BYTES + 1]; /* "": none */
	const struct opt_list *hosts;
};

int
web_access_open(struct web_access **made,
    const struct web_access_options *options, struct err *err)
{
	struct web_access *access = *made = memory_zero(1, sizeof(*access));
	unsigned char random[OWN_BYTES];

	(void)err;
	access->hosts = options->hosts;
	if (options->own_token) {
		hash_random_bytes(random, sizeof(random));
		*text_hex(access->own, random, sizeof(random)) = '\0';
	}
	return 0;
}

void
web_access_close(struct web_access **access)
{
	free(*access);
	*access = NULL;
}

const char *
web_access_token(const struct web_access *access)
{
	return access->own[0] == '\0' ? NULL : access->own;
}

int
web_access_check(struct web_access *access, const char *authorization,
    const char **pattern, struct err *err)
{
	*pattern = NULL;
	if (authorization == NULL ||
	    strncasecmp(authorization, "Bearer ", 7) != 0)
		return err_set(err, "no token: send Authorization: Bearer "
				    "TOKEN; open the page by the URL that "
				    "poolscope web prints");
	if (access->own[0] != '\0' &&
	    strcmp(authorization + 7, access->own) == 0)
		return 0;
	return err_set(err, "this token is not valid (any more)");
}

static bool
is_host(const char *name, size_t bytes, const char *host)
{
	return strlen(host) == bytes && strncasecmp(name, host, bytes) == 0;
}

int
web_access_check_host(
    const struct web_access *access, const char *host, struct err *err)
{
	static const char *const loopback[] = { "localhost", "127.0.0.1",
		"[::1]" };
	char shown[80];
	size_t bytes;

	if (host == NULL)
		return err_set(err, "the request has no Host");
	bytes = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
	if (bytes > strlen(host))
		bytes = strlen(host);
	for (size_t i = 0; i < sizeof(loopback) / sizeof(*loopback); i++)
		if (is_host(host, bytes, loopback[i]))
			return 0;
	for (uint32_t i = 0; i < access->hosts->count; i++)
		if (is_host(host, bytes, access->hosts->at[i]))
			return 0;
	return err_set(err,
	    "'%s' is not a name of this server; name it with --host",
	    text_quote(
		shown, sizeof(shown), (struct text){ host, (uint32_t)bytes }));
}
