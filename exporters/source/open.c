/*
 * source_open - which source it is, opened and closed.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/source_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/auth/client_key.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

#define SILENCE_NS (10 * NS_PER_SECOND)

static struct {
	const char *store, *connect;
	int clock;
} values;

enum { CLOCK_ROW = 2 };

const struct opt source_options[] = {
	{ "store", 0, OPT_TEXT, &values.store, "DIR",
	    "read this store, whether its aggregator runs or not", NULL,
	    false },
	{ "connect", 0, OPT_TEXT, &values.connect, "ENDPOINT",
	    "ask this aggregator, such as tcp://head:5571", NULL, false },
	[CLOCK_ROW] = { "clock", 0, OPT_CHOICE, &values.clock, "CLOCK",
	    "show times as nodes took them (raw), or on the aggregator's clock",
	    "auto|raw|corrected", false },
	{ "key", 0, OPT_TEXT, &client_key_values.key, "FILE",
	    "go to a tcp endpoint with this key (default: DIR/keys/reader.key)",
	    NULL, false },
	{ "insecure", 0, OPT_FLAG, &client_key_values.insecure, NULL,
	    "go to a tcp endpoint without a key, unencrypted", NULL, false },
	{ .name = NULL },
};

void
source_default_clock(enum clock_choice choice)
{
	if (opt_origin(&source_options[CLOCK_ROW]) == OPT_DEFAULT)
		values.clock = (int)choice;
}

static struct source *
make(const char *name)
{
	struct source *s = memory_zero(1, sizeof(*s));

	snprintf(s->name, sizeof(s->name), "%s", name);
	s->last = true;
	s->clock.choice = (enum clock_choice)values.clock;
	return s;
}

int
source_open_endpoint(struct source **source, const char *endpoint,
    int64_t silence_ns, struct err *err)
{
	struct source *s = make(endpoint);

	if (remote_source_open(&s->remote_source, endpoint, silence_ns, err) !=
	    0) {
		free(s);
		return -1;
	}
	s->is_local = strncmp(endpoint, "ipc://", 6) == 0;
	*source = s;
	return 0;
}

static int
open_store(struct source **source, const char *dir, struct err *err)
{
	struct reader *reader = NULL;
	uint64_t lag;

	if (reader_open(&reader, dir, err) != 0 ||
	    reader_lag(reader, &lag, err) != 0) {
		reader_close(&reader);
		return err_prefix(err, "%s", dir);
	}
	*source = make(dir);
	(*source)->local_source = local_source_new(reader);
	(*source)->lag = lag;
	return 0;
}

/* Does a process listen at `endpoint`?  Whoever does holds a lock on the file
 * beside its socket; where that cannot be read the socket must do. */
bool
source_is_listening(const char *endpoint)
{
	const char *path = endpoint + strlen("ipc://");
	char lock[INSTANCE_PATH_BYTES + 8];
	struct stat st;
	bool held;
	int fd;

	if (stat(path, &st) != 0)
		return false;
	snprintf(lock, sizeof(lock), "%s.lock", path);
	fd = open(lock, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno != ENOENT;
	held = flock(fd, LOCK_SH | LOCK_NB) != 0;
	close(fd);
	return held;
}

/* Of a store and an endpoint the one that was named closer to the command
 * line; on the command line itself there is room for one. */
static void
choose(void)
{
	enum opt_from store = opt_origin(&source_options[0]);
	enum opt_from connect = opt_origin(&source_options[1]);

	if (values.store == NULL || values.connect == NULL)
		return;
	if (store == connect)
		opt_usage("--store or --connect, not both");
	if (store > connect)
		values.connect = NULL;
	else
		values.store = NULL;
}

bool
source_is_named(void)
{
	return values.store != NULL || values.connect != NULL;
}

/* Whom to ask: who was named, or else the aggregator of the instance, when it
 * runs, at `own`; NULL: a store is read. */
static const char *
find_endpoint(char own[static INSTANCE_PATH_BYTES])
{
	struct err err;

	choose();
	if (values.store != NULL || values.connect != NULL)
		return values.connect;
	/* A directory whose path is too long for sockets can have a store. */
	return instance_endpoint(own, "reader", &err) == 0 &&
		       source_is_listening(own)
		   ? own
		   : NULL;
}

void
source_sandbox(struct sandbox *sandbox)
{
	char own[INSTANCE_PATH_BYTES], store[INSTANCE_PATH_BYTES];
	struct err err;

	if (find_endpoint(own) != NULL)
		sandbox_sockets();
	/* Readers write into the store's lock files. */
	if (values.store != NULL)
		sandbox_write(sandbox, values.store);
	else if (values.connect == NULL &&
		 instance_path(store, "store", &err) == 0)
		sandbox_write(sandbox, store);
	sandbox_read_or(sandbox, client_key_values.key, "keys/reader.key");
}

int
source_open(struct source **source, struct err *err)
{
	char own[INSTANCE_PATH_BYTES], store[INSTANCE_PATH_BYTES];
	const char *endpoint = find_endpoint(own);
	struct stat st;

	*source = NULL;
	if (endpoint != NULL)
		return source_open_endpoint(source, endpoint, SILENCE_NS, err);
	if (values.store != NULL)
		return open_store(source, values.store, err);
	if (instance_path(store, "store", err) != 0)
		return -1;
	if (stat(store, &st) != 0)
		return err_set(err,
		    "no store in %s and no aggregator running there; give "
		    "--dir, --store or --connect",
		    store);
	return open_store(source, store, err);
}

void
source_close(struct source **source)
{
	struct source *s = *source;

	if (s == NULL)
		return;
	if (s->local_source == NULL)
		remote_source_close(&s->remote_source);
	local_source_free(&s->local_source);
	source_clock_clear(&s->clock);
	wire_room_clear(&s->room);
	free(s);
	*source = NULL;
}

const char *
source_name(const struct source *source)
{
	return source->name;
}
