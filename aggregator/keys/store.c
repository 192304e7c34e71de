/*
 * keys_store - the files of the keys of an instance, and the daemons to
 * notify.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "aggregator/keys/keys.h"
#include "proto/os/lockfile.h"
#include "proto/os/log.h"

enum { NOTIFY_TRIES = 1000 }; /* with 5 ms between them */

int
keys_path(char to[static INSTANCE_PATH_BYTES], const char *name,
    const char *suffix, struct err *err)
{
	char file[NAME_BYTES_MAX + 32];

	snprintf(file, sizeof(file), "keys/%.255s%s", name, suffix);
	return instance_path(to, file, err);
}

int
keys_file(char to[static INSTANCE_PATH_BYTES], const char *name,
    const char *file, struct err *err)
{
	int n;

	if (file == NULL)
		return keys_path(to, name, ".key", err);
	n = snprintf(to, INSTANCE_PATH_BYTES, "%s", file);
	if (n < 0 || n >= INSTANCE_PATH_BYTES)
		return err_set(
		    err, "%.300s...: %s", file, strerror(ENAMETOOLONG));
	return 0;
}

int
keys_make_directory(struct err *err)
{
	char dir[INSTANCE_PATH_BYTES], path[INSTANCE_PATH_BYTES];
	struct stat instance, keys;

	if (instance_dir(dir, err) != 0 || keys_path(path, "", "", err) != 0 ||
	    instance_make_dir(path, err) != 0)
		return -1;
	/* Files that root creates in an instance belong to the owner of the
	 * instance. */
	if (geteuid() != 0 || stat(dir, &instance) != 0 ||
	    stat(path, &keys) != 0 || keys.st_uid == instance.st_uid ||
	    keys.st_uid != 0)
		return 0;
	if (chown(path, instance.st_uid, instance.st_gid) == 0)
		return 0;
	return err_set(err, "%s: %s", path, strerror(errno));
}

int
keys_allow_path(char to[static INSTANCE_PATH_BYTES], struct err *err)
{
	return keys_path(to, "allow", "", err);
}

static int
add_server(struct keyfile *to, const char *name, bool *missing, struct err *err)
{
	char path[INSTANCE_PATH_BYTES];
	struct keyfile server;

	if (keys_path(path, name, ".key", err) != 0)
		return -1;
	*missing = access(path, F_OK) != 0 && errno == ENOENT;
	if (*missing)
		return err_set(err,
		    "%s does not exist: create it with poolscope up --listen "
		    "ENDPOINT or poolscope keys new server --role server",
		    path);
	if (keyfile_read(&server, path, err) != 0)
		return -1;
	memcpy(to->server[to->servers++], server.public, Z85_KEY_BYTES);
	keyfile_clear(&server);
	return 0;
}

int
keys_servers(struct keyfile *key, struct err *err)
{
	bool missing;

	key->servers = 0;
	if (add_server(key, KEYS_SERVER, &missing, err) != 0)
		return -1;
	if (add_server(key, KEYS_SERVER_NEXT, &missing, err) != 0 && !missing)
		return -1;
	return 0;
}

/* Make a daemon reload its keys, and wait until it has. */
static void
notify(const char *name, const char *path, long pid)
{
	static const struct timespec pause = { 0, 5 * 1000 * 1000 };
	struct stat before, now;

	if (stat(path, &before) != 0 || kill((pid_t)pid, SIGHUP) != 0) {
		log_warn("cannot notify the %s (pid %ld): %s", name, pid,
		    strerror(errno));
		return;
	}
	for (int tries = 0; tries < NOTIFY_TRIES; tries++) {
		nanosleep(&pause, NULL);
		if (stat(path, &now) != 0)
			return; /* it has ended */
		if (now.st_mtim.tv_sec != before.st_mtim.tv_sec ||
		    now.st_mtim.tv_nsec != before.st_mtim.tv_nsec) {
			log_info("the %s (pid %ld) has reloaded its keys", name,
			    pid);
			return;
		}
	}
	log_warn(
	    "the %s (pid %ld) did not reload its keys: see its log", name, pid);
}

static void
notify_all(const char *const *daemons, size_t count)
{
	char name[64], path[INSTANCE_PATH_BYTES];
	long pid;

	for (size_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "run/%s.pid", daemons[i]);
		if (instance_path(path, name, NULL) != 0)
			continue;
		pid = lockfile_holder(path);
		if (pid > 0)
			notify(daemons[i], path, pid);
	}
}

void
keys_notify(void)
{
	static const char *const servers[] = { "broker", "aggregator" };

	notify_all(servers, sizeof(servers) / sizeof(*servers));
}

void
keys_notify_clients(void)
{
	static const char *const clients[] = { "agent", "broker" };

	notify_all(clients, sizeof(clients) / sizeof(*clients));
}

int
keys_change(const struct authorized_keys_change *change, uint32_t *removed,
    struct err *err)
{
	char path[INSTANCE_PATH_BYTES];

	if (keys_allow_path(path, err) != 0 ||
	    authorized_keys_change(path, change, removed, err) != 0)
		return -1;
	if (*removed > 0 || change->add != NULL)
		keys_notify();
	return 0;
}

bool
keys_has_public(const void *arg, const struct authorized_keys *list,
    const struct authorized_key *entry)
{
	(void)list;
	return memcmp(entry->public, arg, Z85_KEY_BYTES) == 0;
}

const struct authorized_key *
keys_newest(
    const struct authorized_keys *list, struct text name, uint32_t *keys)
{
	const struct authorized_key *newest = NULL;

	*keys = 0;
	for (uint32_t i = 0; i < authorized_keys_count(list); i++)
		if (text_equal(authorized_keys_at(list, i)->name, name)) {
			newest = authorized_keys_at(list, i);
			++*keys;
		}
	return newest;
}
