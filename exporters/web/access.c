/*
 * web_access - who may ask, and for which partitions.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/web/access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "proto/auth/rate_limit.h"
#include "proto/base/memory.h"
#include "proto/config/instance.h"
#include "proto/keys/authorized_keys.h"
#include "proto/keys/token.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

struct web_access {
	char own[TOKEN_CHARACTERS + 1]; /* "": none */
	unsigned char own_hash[Z85_KEY_BYTES];
	const struct opt_list *hosts;
	char path[INSTANCE_PATH_BYTES];
	struct authorized_keys *list;
	struct stat seen; /* the file that the list is from */
	struct rate_limit *rate;
};

/* ---- tokens ---- */

static bool
is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Read the file if it is another one than before.  A bad file leaves the tokens
 * as they were, as keys are. */
static int
renew(struct web_access *access, struct err *err)
{
	struct authorized_keys *list;
	struct stat now = { .st_size = 0 };

	if (stat(access->path, &now) != 0)
		now = (struct stat){ .st_size = 0 };
	if (is_same(&now, &access->seen))
		return 0;
	access->seen = now;
	if (authorized_keys_read(&list, access->path, err) != 0)
		return -1;
	authorized_keys_free(&access->list);
	access->list = list;
	return 0;
}

static void
renew_or_log(struct web_access *access)
{
	struct err err;

	if (renew(access, &err) != 0)
		log_error("tokens unchanged: %s", err.text);
}

int
web_access_open(struct web_access **made,
    const struct web_access_options *options, struct err *err)
{
	struct web_access *access = *made = memory_zero(1, sizeof(*access));

	access->hosts = options->hosts;
	access->rate = rate_limit_new(options->request_rate);
	if (instance_path(access->path, "keys/tokens", err) != 0 ||
	    renew(access, err) != 0)
		return -1;
	if (options->own_token) {
		token_make(access->own);
		token_hash(access->own_hash, text_of(access->own));
	} else if (authorized_keys_count(access->list) == 0) {
		return err_set(err,
		    "%s has no token, so that nobody could read: create one "
		    "with poolscope keys token NAME",
		    access->path);
	}
	return 0;
}

void
web_access_close(struct web_access **access)
{
	if (*access != NULL) {
		authorized_keys_free(&(*access)->list);
		rate_limit_free(&(*access)->rate);
	}
	free(*access);
	*access = NULL;
}

const char *
web_access_token(const struct web_access *access)
{
	return access->own[0] == '\0' ? NULL : access->own;
}

static int
find(struct web_access *access, struct web_right *right)
{
	const struct authorized_key *entry;

	renew_or_log(access);
	right->pattern[0] = '\0';
	if (access->own[0] != '\0' &&
	    memcmp(right->token, access->own_hash, sizeof(right->token)) == 0)
		return 0;
	entry = authorized_keys_find(access->list, right->token);
	if (entry == NULL)
		return -1;
	if (!text_equal(entry->partition, text_of("*")))
		snprintf(right->pattern, sizeof(right->pattern), "%.*s",
		    (int)entry->partition.bytes, entry->partition.at);
	return 0;
}

int
web_access_check(struct web_access *access, const char *authorization,
    struct web_right *right, struct err *err)
{
	if (authorization == NULL ||
	    strncasecmp(authorization, "Bearer ", 7) != 0)
		return err_set(err,
		    "a token is needed: send Authorization: Bearer TOKEN; for "
		    "the page, open the address that poolscope web prints");
	token_hash(right->token, text_of(authorization + 7));
	if (find(access, right) == 0)
		return 0;
	return err_set(err,
	    "the token is not valid, or not any more: poolscope keys token "
	    "NAME creates one, and poolscope web prints that of this run");
}

bool
web_access_holds(struct web_access *access, const struct web_right *right)
{
	struct web_right now = *right;

	return find(access, &now) == 0 &&
	       strcmp(now.pattern, right->pattern) == 0;
}

uint32_t
web_access_wait_ms(
    struct web_access *access, const struct web_right *right, uint32_t count)
{
	return rate_limit_take_of_key(
	    access->rate, right->token, count, clock_monotonic_ns());
}

/* ---- names of this server ---- */

static bool
is_host(const char *name, size_t bytes, const char *host)
{
	return strlen(host) == bytes && strncasecmp(name, host, bytes) == 0;
}

/* Is the beginning of `host`, up to a port, a name of this server? */
static bool
is_ours(const struct web_access *access, const char *host, size_t *bytes)
{
	static const char *const loopback[] = { "localhost", "127.0.0.1",
		"[::1]" };

	*bytes = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
	if (*bytes > strlen(host))
		*bytes = strlen(host);
	for (size_t i = 0; i < sizeof(loopback) / sizeof(*loopback); i++)
		if (is_host(host, *bytes, loopback[i]))
			return true;
	for (uint32_t i = 0; i < access->hosts->count; i++)
		if (is_host(host, *bytes, access->hosts->at[i]))
			return true;
	return false;
}

int
web_access_check_host(
    const struct web_access *access, const char *host, struct err *err)
{
	char shown[80];
	size_t bytes;

	if (host == NULL)
		return err_set(err, "the request has no Host");
	if (is_ours(access, host, &bytes))
		return 0;
	return err_set(err,
	    "'%s' is not a name of this server; name it with --host",
	    text_quote(
		shown, sizeof(shown), (struct text){ host, (uint32_t)bytes }));
}

int
web_access_check_origin(
    const struct web_access *access, const char *origin, struct err *err)
{
	const char *host = origin == NULL ? NULL : strstr(origin, "://");
	char shown[80];
	size_t bytes;

	if (origin == NULL ||
	    (host != NULL && is_ours(access, host + 3, &bytes)))
		return 0;
	return err_set(err, "a page of '%s' must not ask",
	    text_quote(shown, sizeof(shown), text_of(origin)));
}
