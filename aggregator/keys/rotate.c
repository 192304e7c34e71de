/*
 * keys_rotate - replace a key by a new one; both are valid until the rotation
 * is finished.
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggregator/keys/keys.h"

/* Find the file of the key of this name; -1 and a sentence: there is none. */
static int
find_file(char to[static INSTANCE_PATH_BYTES], const char *name,
    const char *file, struct err *err)
{
	if (keys_file(to, name, file, err) != 0)
		return -1;
	if (file != NULL || access(to, F_OK) == 0)
		return 0;
	return err_set(err,
	    "%s does not exist: give the file of the new key with --file", to);
}

/* Replace an existing file only if it holds a key of that name; then `public`
 * is its public key, otherwise `*has` is false. */
static int
check_replaced(const char *path, const char *name,
    unsigned char public[Z85_KEY_BYTES], bool *has, struct err *err)
{
	struct keyfile old;
	int rc = 0;

	*has = false;
	if (access(path, F_OK) != 0 && errno == ENOENT)
		return 0;
	if (keyfile_read(&old, path, err) != 0)
		return -1;
	if (strcmp(old.name, name) != 0)
		rc = err_set(err, "%.300s is the key of %s", path, old.name);
	*has = true;
	memcpy(public, old.public, sizeof(old.public));
	keyfile_clear(&old);
	return rc;
}

/* `instead`, unless NULL, is a key that no file has; its line is removed. */
static int
add_beside(const struct authorized_key *old, const char *name, const char *path,
    const unsigned char *instead, struct err *err)
{
	struct authorized_key entry = *old;
	struct authorized_keys_change change = {
		instead ? keys_has_public : NULL, instead, &entry
	};
	struct keyfile key;
	uint32_t removed;
	int rc;

	keyfile_make(&key, name, old->role);
	memcpy(entry.public, key.public, sizeof(entry.public));
	rc = keys_servers(&key, err);
	/* Authorize the new key first, so that whoever has it can connect. */
	if (rc == 0)
		rc = keys_change(&change, &removed, err);
	if (rc == 0)
		rc = keyfile_write(&key, path, true, err);
	keyfile_clear(&key);
	return rc;
}

/* Several keys of a name mean that a rotation is under way.  If the file still
 * has the old key, the rotation was interrupted, and no file has the newest
 * key. */
static int
add_new(const struct authorized_key *newest, uint32_t keys, const char *name,
    const char *path, struct err *err)
{
	unsigned char now[Z85_KEY_BYTES];
	bool has;

	if (check_replaced(path, name, now, &has, err) != 0)
		return -1;
	if (keys == 1)
		return add_beside(newest, name, path, NULL, err);
	if (has && memcmp(now, newest->public, sizeof(now)) != 0)
		return add_beside(newest, name, path, newest->public, err);
	return err_set(err,
	    "%s already has %u keys: finish that rotation first (--finish)",
	    name, keys);
}

static int
read_list(struct authorized_keys **list, struct err *err)
{
	char path[INSTANCE_PATH_BYTES];

	if (keys_allow_path(path, err) != 0)
		return -1;
	return authorized_keys_read(list, path, err);
}

int
keys_rotate(const char *name, const char *file, struct err *err)
{
	const struct authorized_key *newest;
	char path[INSTANCE_PATH_BYTES];
	struct authorized_keys *list;
	uint32_t keys;
	int rc;

	if (read_list(&list, err) != 0)
		return -1;
	newest = keys_newest(list, text_of(name), &keys);
	if (newest == NULL)
		rc = err_set(err, "no authorized key is called %s", name);
	else if (find_file(path, name, file, err) != 0)
		rc = -1;
	else
		rc = add_new(newest, keys, name, path, err);
	authorized_keys_free(&list);
	if (rc != 0)
		return -1;
	keys_notify_clients();
	printf("new key %s in %s; the old one stays authorized until\n    "
	       "poolscope keys rotate %s --finish\n",
	    name, path, name);
	return rc;
}

static bool
is_older(const void *arg, const struct authorized_keys *list,
    const struct authorized_key *entry)
{
	struct text name = text_of(arg);
	uint32_t keys;

	return text_equal(entry->name, name) &&
	       entry != keys_newest(list, name, &keys);
}

int
keys_rotate_finish(const char *name, struct err *err)
{
	struct authorized_keys_change change = { is_older, name, NULL };
	uint32_t removed;

	if (keys_change(&change, &removed, err) != 0)
		return -1;
	if (removed == 0)
		return err_set(err,
		    "no rotation of %s is under way: it has no older key",
		    name);
	printf("only the newest key of %s is authorized\n", name);
	return 0;
}

/* The change of the server key, as lines of a client's key file. */
struct edit {
	const unsigned char *add;    /* Z85_KEY_BYTES */
	const unsigned char *remove; /* the same, or NULL */
	uint32_t changed;
};

static int
edit_servers(struct keyfile *key, const struct edit *edit, bool *changed)
{
	uint32_t kept = 0;
	bool there = false;

	for (uint32_t i = 0; i < key->servers; i++) {
		const unsigned char *server = key->server[i];

		if (edit->remove != NULL &&
		    memcmp(server, edit->remove, Z85_KEY_BYTES) == 0)
			continue;
		there |= memcmp(server, edit->add, Z85_KEY_BYTES) == 0;
		memmove(key->server[kept++], server, Z85_KEY_BYTES);
	}
	*changed = kept != key->servers || !there;
	key->servers = kept;
	if (there)
		return 0;
	if (kept == KEYFILE_SERVERS_MAX)
		return -1;
	memcpy(key->server[key->servers++], edit->add, Z85_KEY_BYTES);
	return 0;
}

static int
edit_file(const char *path, struct edit *edit, struct err *err)
{
	struct keyfile key;
	bool changed = false;
	int rc;

	if (keyfile_read(&key, path, err) != 0)
		return -1;
	if (key.role == KEY_SERVER) {
		keyfile_clear(&key);
		return 0;
	}
	rc = edit_servers(&key, edit, &changed);
	if (rc != 0)
		err_set(err, "%.300s would have more than %d server: lines",
		    path, KEYFILE_SERVERS_MAX);
	else if (changed)
		rc = keyfile_write(&key, path, true, err);
	edit->changed += rc == 0 && changed;
	keyfile_clear(&key);
	return rc;
}

static bool
is_key_file(const char *name)
{
	size_t bytes = strlen(name);

	return name[0] != '.' && bytes > 4 &&
	       strcmp(name + bytes - 4, ".key") == 0;
}

static int
edit_directory(struct edit *edit, struct err *err)
{
	char path[INSTANCE_PATH_BYTES], dir[INSTANCE_PATH_BYTES];
	struct dirent *entry;
	int rc = 0;
	DIR *at;

	if (keys_path(dir, "", "", err) != 0)
		return -1;
	at = opendir(dir);
	if (at == NULL)
		return err_set(err, "%s: %s", dir, strerror(errno));
	while (rc == 0 && (entry = readdir(at)) != NULL)
		if (is_key_file(entry->d_name)) {
			rc = keys_path(path, entry->d_name, "", err);
			if (rc == 0)
				rc = edit_file(path, edit, err);
		}
	closedir(at);
	return rc;
}

static int
edit_all(struct edit *edit, char *const *files, uint32_t count, struct err *err)
{
	if (edit_directory(edit, err) != 0)
		return -1;
	for (uint32_t i = 0; i < count; i++)
		if (edit_file(files[i], edit, err) != 0)
			return -1;
	return 0;
}

static int
read_server(struct keyfile *key, const char *name,
    char path[static INSTANCE_PATH_BYTES], struct err *err)
{
	if (keys_path(path, name, ".key", err) != 0)
		return -1;
	return keyfile_read(key, path, err);
}

int
keys_rotate_server(char *const *files, uint32_t count, struct err *err)
{
	struct keyfile old, next = { .secret = NULL };
	char path[INSTANCE_PATH_BYTES], public[Z85_CHARACTERS];
	struct edit edit = { .add = next.public };
	int rc;

	if (read_server(&old, KEYS_SERVER, path, err) != 0)
		return -1;
	keyfile_clear(&old);
	rc = keys_path(path, KEYS_SERVER_NEXT, ".key", err);
	/* An interrupted rotation: continue with the existing next key. */
	if (rc == 0 && access(path, F_OK) == 0)
		rc = keyfile_read(&next, path, err);
	else if (rc == 0) {
		keyfile_make(&next, KEYS_SERVER_NEXT, KEY_SERVER);
		rc = keyfile_write(&next, path, false, err);
	}
	if (rc == 0)
		rc = edit_all(&edit, files, count, err);
	if (rc == 0) {
		z85_encode(public, next.public);
		printf("new key in %s; added to %u key file%s\nadd it to every "
		       "other key file before you finish the rotation:\n    "
		       "echo 'server: %.*s' >>FILE\nthen    poolscope keys "
		       "rotate server --finish\n",
		    path, edit.changed, edit.changed == 1 ? "" : "s",
		    Z85_CHARACTERS, public);
	}
	keyfile_clear(&next);
	return rc;
}

/* 1: it does not exist. */
static int
read_if_there(struct keyfile *key, const char *name,
    char path[static INSTANCE_PATH_BYTES], struct err *err)
{
	if (keys_path(path, name, ".key", err) != 0)
		return -1;
	if (access(path, F_OK) != 0 && errno == ENOENT)
		return 1;
	return keyfile_read(key, path, err);
}

static int
remove_key(const char *path, struct err *err)
{
	return unlink(path) == 0
		   ? 0
		   : err_set(err, "%s: %s", path, strerror(errno));
}

/* Make the next key the server key.  The old one stays in its own file until
 * no key file names it, so that an interrupted rotation can be resumed. */
static int
become_server(struct keyfile *now, struct keyfile *old, struct err *err)
{
	char from[INSTANCE_PATH_BYTES], to[INSTANCE_PATH_BYTES];
	char before[INSTANCE_PATH_BYTES];
	struct keyfile next = { .secret = NULL };
	int rc = read_server(now, KEYS_SERVER, to, err), has_next = 1;

	if (rc == 0)
		rc = has_next =
		    read_if_there(&next, KEYS_SERVER_NEXT, from, err);
	if (rc == 0 && memcmp(next.public, now->public, Z85_KEY_BYTES) != 0) {
		rc = keys_path(before, KEYS_SERVER_OLD, ".key", err);
		if (rc == 0)
			rc = keyfile_write(now, before, true, err);
	}
	if (rc >= 0)
		rc = read_if_there(old, KEYS_SERVER_OLD, before, err);
	if (rc == 1 && has_next == 1)
		rc = err_set(err,
		    "no rotation of the server key is under way: %s does not "
		    "exist",
		    from);
	if (rc >= 0 && has_next == 0) {
		snprintf(next.name, sizeof(next.name), "%s", KEYS_SERVER);
		rc = keyfile_write(&next, to, true, err);
		if (rc == 0)
			rc = remove_key(from, err);
		memcpy(now->public, next.public, Z85_KEY_BYTES);
	}
	keyfile_clear(&next);
	return rc < 0 ? -1 : 0;
}

int
keys_rotate_server_finish(char *const *files, uint32_t count, struct err *err)
{
	struct keyfile old = { .secret = NULL }, now = { .secret = NULL };
	char before[INSTANCE_PATH_BYTES];
	struct edit edit = { now.public, old.public, 0 };
	int rc = become_server(&now, &old, err);

	if (rc == 0) {
		keys_notify();
		rc = edit_all(&edit, files, count, err);
	}
	if (rc == 0)
		rc = keys_path(before, KEYS_SERVER_OLD, ".key", err);
	if (rc == 0)
		rc = remove_key(before, err);
	if (rc == 0)
		printf("the listeners use the new key; the old one was removed "
		       "from %u key file%s\n",
		    edit.changed, edit.changed == 1 ? "" : "s");
	keyfile_clear(&now);
	keyfile_clear(&old);
	return rc;
}
