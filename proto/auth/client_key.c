/*
 * client_key - the key with which this process goes to the TCP doors of
 * others.
 * SPDX-License-Identifier: MIT
 */
#include "proto/auth/client_key.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proto/config/instance.h"
#include "proto/keys/keyfile.h"
#include "proto/net/endpoint.h"

struct client_key_values client_key_values;

const struct opt client_key_options[] = {
	{ "key", 0, OPT_TEXT, &client_key_values.key, "FILE",
	    "go to a tcp door with this key (poolscope keys new)", NULL,
	    false },
	{ "insecure", 0, OPT_FLAG, &client_key_values.insecure, NULL,
	    "go to a tcp door without a key, unencrypted", NULL, false },
	{ .name = NULL },
};

/* One a name: the same process may read with one and publish with another. */
static struct shown {
	const char *name;
	struct keyfile key;
	char path[INSTANCE_PATH_BYTES];
} shown[3];

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
	    "%s: a key of the role server is a door's, not one to go there "
	    "with",
	    path);
}

/* --key, or the instance's key of that name. */
static int
find_key(char path[static INSTANCE_PATH_BYTES], const char *endpoint,
    const char *name, struct err *err)
{
	char file[64];

	if (client_key_values.key != NULL) {
		if (strlen(client_key_values.key) >= INSTANCE_PATH_BYTES)
			return err_set(
			    err, "%s: name too long", client_key_values.key);
		strcpy(path, client_key_values.key);
		return 0;
	}
	snprintf(file, sizeof(file), "keys/%s.key", name);
	if (instance_path(path, file, err) != 0)
		return -1;
	if (access(path, F_OK) != 0)
		return err_set(err,
		    "%s needs a key: --key FILE, or %s (--insecure goes "
		    "without, unencrypted)",
		    endpoint, path);
	return 0;
}

int
client_key_show(struct zsock_options *options, const char *endpoint,
    const char *name, struct err *err)
{
	struct shown *slot = shown;

	if (endpoint_check(endpoint, err) != 0)
		return -1;
	if (endpoint_path(endpoint) != NULL)
		return 0;
	if (client_key_values.key == NULL && client_key_values.insecure) {
		options->insecure = true;
		return 0;
	}
	while (slot->name != NULL && strcmp(slot->name, name) != 0)
		slot++;
	assert(slot < shown + sizeof(shown) / sizeof(*shown));
	if (slot->name == NULL) {
		if (find_key(slot->path, endpoint, name, err) != 0 ||
		    read_key(&slot->key, slot->path, err) != 0)
			return -1;
		slot->name = name;
	}
	options->key = &slot->key;
	return 0;
}

int
client_key_renew(struct err *err)
{
	struct keyfile key;

	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
		if (shown[i].name == NULL)
			continue;
		if (read_key(&key, shown[i].path, err) != 0)
			return -1;
		keyfile_clear(&shown[i].key);
		shown[i].key = key;
	}
	return 0;
}
