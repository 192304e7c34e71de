/*
 * authorized_keys_change - removes lines of the list of authorized keys and
 * adds one.
 * SPDX-License-Identifier: MIT
 */
#include "proto/keys/authorized_keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/keys/trusted_file.h"
#include "proto/os/lockfile.h"

enum {
	PATH_BYTES = 4096,
	LOCK_TRIES = 500, /* attempts, 20 ms apart */
	LINE_BYTES_MAX = 4 * (NAME_BYTES_MAX + 1),
};

static int
take_lock(struct lockfile *lockfile, const char *path, struct err *err)
{
	static const struct timespec pause = { 0, 20 * 1000 * 1000 };
	char name[PATH_BYTES];
	long holder;
	int rc, n = snprintf(name, sizeof(name), "%s.lock", path);

	if (n < 0 || (size_t)n >= sizeof(name))
		return err_set(
		    err, "%.300s...: %s", path, strerror(ENAMETOOLONG));
	for (int tries = 0;; tries++) {
		rc = lockfile_take(lockfile, name, &holder, err);
		if (rc == 0 || holder == LOCKFILE_NOT_HELD ||
		    tries == LOCK_TRIES)
			return rc;
		nanosleep(&pause, NULL);
	}
}

/* Does the change remove the line that begins here? */
static bool
is_removed(const struct authorized_keys_change *change,
    const struct authorized_keys *list, uint32_t line, uint32_t *next)
{
	const struct authorized_key *entry;

	if (*next == authorized_keys_count(list))
		return false;
	entry = authorized_keys_at(list, *next);
	if (entry->line != line)
		return false; /* a comment */
	++*next;
	return change->remove != NULL &&
	       change->remove(change->arg, list, entry);
}

static void
put_entry(FILE *to, const struct authorized_key *entry)
{
	char public[Z85_CHARACTERS];

	z85_encode(public, entry->public);
	fprintf(to, "%.*s\t%s\t%.*s\t%.*s\t%.*s\n", Z85_CHARACTERS, public,
	    key_role_name(entry->role), (int)entry->partition.bytes,
	    entry->partition.at, (int)entry->node.bytes, entry->node.at,
	    (int)entry->name.bytes, entry->name.at);
}

static uint32_t
put_lines(FILE *to, const struct authorized_keys *list, struct text rest,
    const struct authorized_keys_change *change)
{
	uint32_t line = 0, next = 0, removed = 0;

	while (rest.bytes > 0) {
		const char *end = memchr(rest.at, '\n', rest.bytes);
		uint32_t bytes = (uint32_t)(end - rest.at) + 1;

		if (is_removed(change, list, ++line, &next))
			removed++;
		else
			fwrite(rest.at, 1, bytes, to);
		rest.at += bytes;
		rest.bytes -= bytes;
	}
	return removed;
}

static int
write_list(const char *path, struct text bytes, struct err *err)
{
	struct authorized_keys *list;

	/* Never write a file that could not be read again. */
	if (authorized_keys_parse(&list, bytes, path, err) != 0)
		return -1;
	authorized_keys_free(&list);
	return trusted_file_write(path, bytes.at, bytes.bytes, true, err);
}

static int
change_list(const char *path, const struct authorized_keys_change *change,
    uint32_t *removed, struct err *err)
{
	struct authorized_keys *list;
	size_t bytes = 0;
	char *at = NULL;
	FILE *to;
	int rc = 0;

	if (authorized_keys_read(&list, path, err) != 0)
		return -1;
	to = memory_stream(&at, &bytes);
	*removed = put_lines(to, list, authorized_keys_bytes(list), change);
	if (change->add != NULL)
		put_entry(to, change->add);
	memory_stream_end(&to);
	if (bytes > AUTHORIZED_KEYS_BYTES_MAX)
		rc = err_set(err, "%.300s would be longer than %d bytes", path,
		    AUTHORIZED_KEYS_BYTES_MAX);
	else if (*removed > 0 || change->add != NULL)
		rc =
		    write_list(path, (struct text){ at, (uint32_t)bytes }, err);
	free(at);
	authorized_keys_free(&list);
	return rc;
}

int
authorized_keys_change(const char *path,
    const struct authorized_keys_change *change, uint32_t *removed,
    struct err *err)
{
	struct lockfile lockfile = { 0 };
	int rc;

	*removed = 0;
	if (change->add == NULL && access(path, F_OK) != 0 && errno == ENOENT)
		return 0; /* nothing to remove */
	if (take_lock(&lockfile, path, err) != 0)
		return -1;
	rc = change_list(path, change, removed, err);
	lockfile_release(&lockfile);
	return rc;
}
