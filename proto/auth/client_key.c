/*
 * client_key - the key that this process uses to connect to TCP listeners.
 * SPDX-License-Identifier: MIT
 */
#include "proto/auth/client_key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/config/instance.h"
#include "proto/keys/keyfile.h"
#include "proto/net/endpoint.h"
#include "proto/os/clock.h"

#define AGAIN_NS (5 * NS_PER_SECOND)

/* One per file, never freed: connections point to the key. */
static struct loaded {
	struct loaded *next;
	struct keyfile key;
	char path[INSTANCE_PATH_BYTES];
} * all_loaded;

static int
read_key(struct keyfile *key, const char *path, struct err *err)
{
	if (keyfile_read(key, path, err) != 0) {
		keyfile_clear(key);
		return -1;
	}
	if (key->role != KEY_SERVER)
		return 0;
	keyfile_clear(key);
	return err_set(err,
	    "%s: a key of role server belongs to a listener; use a client key",
	    path);
}

/* --key, or the key of that name in the instance. */
static int
find_key(char path[static INSTANCE_PATH_BYTES],
    const struct client_key_values *given, const char *endpoint,
    const char *name, struct err *err)
{
	char file[64];

	if (given->key != NULL) {
		if (strlen(given->key) >= INSTANCE_PATH_BYTES)
			return err_set(err, "%s: name too long", given->key);
		strcpy(path, given->key);
		return 0;
	}
	snprintf(file, sizeof(file), "keys/%s.key", name);
	if (instance_path(path, file, err) != 0)
		return -1;
	if (access(path, F_OK) != 0)
		return err_set(err,
		    "%s needs a key: give --key FILE or create %s (--insecure "
		    "connects without, unencrypted)",
		    endpoint, path);
	return 0;
}

static struct loaded *
find_loaded(const char *path)
{
	struct loaded *s = all_loaded;

	while (s != NULL && strcmp(s->path, path) != 0)
		s = s->next;
	return s;
}

int
client_key_load(struct zsock_options *options,
    const struct client_key_values *given, const char *endpoint,
    const char *name, struct err *err)
{
	static const struct client_key_values none;
	char path[INSTANCE_PATH_BYTES];
	struct loaded *s;

	if (endpoint_check(endpoint, err) != 0)
		return -1;
	if (endpoint_path(endpoint) != NULL)
		return 0;
	if (given == NULL)
		given = &none;
	if (given->key == NULL && given->insecure) {
		options->insecure = true;
		return 0;
	}
	if (find_key(path, given, endpoint, name, err) != 0)
		return -1;
	s = find_loaded(path);
	if (s == NULL) {
		s = memory_zero(1, sizeof(*s));
		strcpy(s->path, path);
		if (read_key(&s->key, path, err) != 0) {
			free(s);
			return -1;
		}
		s->next = all_loaded;
		all_loaded = s;
	}
	options->key = &s->key;
	return 0;
}

int
client_key_renew(struct err *err)
{
	struct keyfile key;
	int rc = 0;

	for (struct loaded *s = all_loaded; s != NULL; s = s->next) {
		if (read_key(&key, s->path, err) != 0) {
			rc = -1;
			continue;
		}
		keyfile_clear(&s->key);
		s->key = key;
	}
	return rc;
}

bool
client_key_forbidden(int64_t *again_ns)
{
	int64_t now_ns = clock_monotonic_ns();
	struct err err = { 0 };

	if (now_ns < *again_ns)
		return false;
	*again_ns = now_ns + AGAIN_NS;
	/* If this fails, the old key is tried again. */
	return client_key_renew(&err) == 0;
}
