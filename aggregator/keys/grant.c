/*
 * keys_grant - create, authorize and revoke keys.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "aggregator/keys/keys.h"

static struct authorized_key
make_entry(
    const struct keys_grant *grant, const unsigned char public[Z85_KEY_BYTES])
{
	struct authorized_key entry = { .role = grant->role,
		.partition = text_of(grant->partition),
		.node = text_of(grant->node),
		.name = text_of(grant->name) };

	memcpy(entry.public, public, Z85_KEY_BYTES);
	return entry;
}

/* -1: a key of that name is authorized already. */
static int
check_new_name(const char *name, struct err *err)
{
	char path[INSTANCE_PATH_BYTES];
	struct authorized_keys *list;
	uint32_t keys;

	if (keys_allow_path(path, err) != 0 ||
	    authorized_keys_read(&list, path, err) != 0)
		return -1;
	keys_newest(list, text_of(name), &keys);
	authorized_keys_free(&list);
	if (keys == 0)
		return 0;
	return err_set(err,
	    "a key %s exists already: rotate it, or revoke it first", name);
}

static void
print_key(const struct keyfile *key, const char *path)
{
	char public[Z85_CHARACTERS];

	z85_encode(public, key->public);
	printf("key     %s (%s)\nfile    %s\npublic  %.*s\n", key->name,
	    key_role_name(key->role), path, Z85_CHARACTERS, public);
}

int
keys_new_server(struct err *err)
{
	char path[INSTANCE_PATH_BYTES];
	struct keyfile key;
	int rc;

	if (keys_path(path, KEYS_SERVER, ".key", err) != 0)
		return -1;
	keyfile_make(&key, KEYS_SERVER, KEY_SERVER);
	rc = keyfile_write(&key, path, false, err);
	if (rc == 0) {
		print_key(&key, path);
		keys_notify();
	}
	keyfile_clear(&key);
	return rc;
}

int
keys_new(const struct keys_grant *grant, const char *file, struct err *err)
{
	struct keyfile key;
	struct authorized_key entry;
	char path[INSTANCE_PATH_BYTES];
	uint32_t removed;
	int rc;

	if (check_new_name(grant->name, err) != 0 ||
	    keys_file(path, grant->name, file, err) != 0)
		return -1;
	keyfile_make(&key, grant->name, grant->role);
	entry = make_entry(grant, key.public);
	rc = keys_servers(&key, err);
	if (rc == 0)
		rc = keyfile_write(&key, path, false, err);
	if (rc == 0) {
		rc = keys_change(
		    &(struct authorized_keys_change){ .add = &entry }, &removed,
		    err);
		if (rc != 0)
			unlink(path);
		else
			print_key(&key, path);
	}
	keyfile_clear(&key);
	return rc;
}

int
keys_new_for(const struct keys_grant *grant, const char *file,
    const unsigned char (*servers)[Z85_KEY_BYTES], uint32_t count,
    struct err *err)
{
	struct keyfile key;
	char path[INSTANCE_PATH_BYTES];
	int rc;

	if (keys_file(path, grant->name, file, err) != 0)
		return -1;
	keyfile_make(&key, grant->name, grant->role);
	memcpy(key.server, servers, count * sizeof(*servers));
	key.servers = count;
	rc = keyfile_write(&key, path, false, err);
	if (rc == 0)
		print_key(&key, path);
	keyfile_clear(&key);
	return rc;
}

static bool
has_name(const void *arg, const struct authorized_keys *list,
    const struct authorized_key *entry)
{
	(void)list;
	return text_equal(entry->name, text_of(arg));
}

int
keys_allow(const struct keys_grant *grant,
    const unsigned char public[Z85_KEY_BYTES], struct err *err)
{
	struct authorized_key entry = make_entry(grant, public);
	/* Repeating the command replaces the previous line. */
	struct authorized_keys_change change = { keys_has_public, public,
		&entry };
	uint32_t removed;

	if (keys_change(&change, &removed, err) != 0)
		return -1;
	printf("%s %s (%s)\n", removed > 0 ? "changed" : "allowed", grant->name,
	    key_role_name(grant->role));
	return 0;
}

/* From the keys and from the tokens. */
static int
remove_both(const struct authorized_keys_change *change, uint32_t *removed,
    struct err *err)
{
	uint32_t tokens;

	if (keys_change(change, removed, err) != 0 ||
	    keys_revoke_tokens(change, &tokens, err) != 0)
		return -1;
	*removed += tokens;
	return 0;
}

/* A public key; or, if no line has it, a name that looks like one. */
static int
remove_lines(const char *what, uint32_t *removed, struct err *err)
{
	unsigned char public[Z85_KEY_BYTES];

	*removed = 0;
	if (z85_decode(public, text_of(what)) &&
	    remove_both(&(struct authorized_keys_change){ keys_has_public,
			    public, NULL },
		removed, err) != 0)
		return -1;
	if (*removed > 0)
		return 0;
	return remove_both(
	    &(struct authorized_keys_change){ has_name, what, NULL }, removed,
	    err);
}

int
keys_revoke(const char *what, struct err *err)
{
	char shown[160];
	uint32_t removed;

	if (remove_lines(what, &removed, err) != 0)
		return -1;
	text_quote(shown, sizeof(shown), text_of(what));
	if (removed == 0)
		return err_set(
		    err, "no authorized key or token is called %s", shown);
	printf(
	    "revoked %s (%u key%s)\n", shown, removed, removed == 1 ? "" : "s");
	return 0;
}
