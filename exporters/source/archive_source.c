/*
 * archive_source - pages of an archive in ClickHouse.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/archive_source.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggregator/archive/mirror/mirror.h"
#include "exporters/source/local_source.h"
#include "proto/base/memory.h"
#include "proto/config/opt.h"
#include "proto/os/clock.h"

/* Servers sort before they send the first byte. */
#define TIMEOUT_NS (30 * NS_PER_SECOND)
/* How soon a page that nobody wants any more ends its wait. */
#define WAIT_NS (NS_PER_SECOND / 5)

/* A mirror of the process. */
struct shared {
	struct shared *next;
	char *address, *password, *cacert; /* the last two may be NULL */
	bool insecure, stays;
	struct mirror *mirror;
	struct reader *first; /* others are opened next to it */
	uint32_t users;
	enum { OPENING, OPEN, FAILED } state;
	struct err why; /* of FAILED, which is no longer in the list */
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t opened; /* one of them, or not */
	struct shared *list;
	bool ends; /* close_all is called at the end */
} all = { .lock = PTHREAD_MUTEX_INITIALIZER,
	.opened = PTHREAD_COND_INITIALIZER };

struct archive_source {
	struct shared *shared;
	atomic_bool is_dropped; /* the page that is being made */
};

/* ---- addresses ---- */

bool
archive_source_is_named(const char *endpoint)
{
	return strncmp(endpoint, "clickhouse://", 13) == 0 ||
	       strncmp(endpoint, "clickhouses://", 14) == 0;
}

void
archive_source_name(char *to, size_t room, const char *address)
{
	const char *host = strstr(address, "://");
	const char *at = NULL;

	host = host != NULL ? host + 3 : address;
	/* Also of an address that is wrong, whatever is in front of it. */
	at = strrchr(host, '@');
	snprintf(to, room, "%.*s%s", (int)(host - address), address,
	    at != NULL ? at + 1 : host);
}

static struct clickhouse_options
reach(const struct archive_source_values *values, const char *address)
{
	struct clickhouse_options how = CLICKHOUSE_DEFAULT;

	how.url = address;
	how.password = values->password;
	how.cacert = values->cacert;
	how.insecure = values->insecure;
	how.timeout_ns = TIMEOUT_NS;
	return how;
}

int
archive_source_check(const struct archive_source_values *values,
    const char *address, struct err *err)
{
	const struct clickhouse_options how = reach(values, address);
	struct clickhouse *clickhouse = NULL;

	if (clickhouse_open(&clickhouse, &how, "connect", err) != 0)
		return -1;
	clickhouse_close(&clickhouse);
	return 0;
}

void
archive_source_sandbox(
    const struct archive_source_values *values, struct sandbox *sandbox)
{
	const char *dir = getenv("TMPDIR");

	sandbox_read_folder_of(sandbox, values->password);
	sandbox_read_folder_of(sandbox, values->cacert);
	sandbox_write(sandbox, dir != NULL && dir[0] != '\0' ? dir : "/tmp");
}

/* ---- mirrors ---- */

static void
free_shared(struct shared *old)
{
	reader_close(&old->first);
	mirror_close(&old->mirror);
	free(old->address);
	free(old->password);
	free(old->cacert);
	free(old);
}

/* At the end of the process.  One that a thread still uses stays. */
static void
close_all(void)
{
	struct shared *next;

	pthread_mutex_lock(&all.lock);
	for (struct shared *each = all.list; each != NULL; each = next) {
		next = each->next;
		if (each->users == 0)
			free_shared(each);
	}
	all.list = NULL;
	pthread_mutex_unlock(&all.lock);
}

static char *
copy_of(const char *text)
{
	return text != NULL ? memory_string(text) : NULL;
}

static bool
is_same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static struct shared *
find_shared(
    const struct archive_source_values *values, const char *address, bool stays)
{
	struct shared *found = all.list;

	while (
	    found != NULL &&
	    (strcmp(found->address, address) != 0 ||
		!is_same(found->password, values->password) ||
		!is_same(found->cacert, values->cacert) ||
		found->insecure != values->insecure || found->stays != stays))
		found = found->next;
	return found;
}

static struct shared *
add_shared(
    const struct archive_source_values *values, const char *address, bool stays)
{
	struct shared *made = memory_zero(1, sizeof(*made));

	made->address = memory_string(address);
	made->password = copy_of(values->password);
	made->cacert = copy_of(values->cacert);
	made->insecure = values->insecure;
	made->stays = stays;
	made->next = all.list;
	all.list = made;
	if (!all.ends)
		all.ends = atexit(close_all) == 0;
	return made;
}

static void
remove_shared(const struct shared *gone)
{
	struct shared **at = &all.list;

	while (*at != NULL && *at != gone)
		at = &(*at)->next;
	if (*at != NULL)
		*at = gone->next;
}

static int
open_mirror(struct shared *made, struct err *err)
{
	struct mirror_options how = { .option = "connect",
		.follows = made->stays };

	how.clickhouse = reach(&(struct archive_source_values){ made->password,
				   made->cacert, made->insecure },
	    made->address);
	how.progress = !made->stays && !opt_common_values.quiet &&
		       isatty(STDERR_FILENO) == 1;
	return mirror_open(&made->mirror, &how, err) != 0
		   ? -1
		   : mirror_reader(made->mirror, &made->first, err);
}

/* The mirror of this archive, made if there is none; -1: none can be made.
 * While it is being opened, which may last as long as its timeouts, those who
 * want another archive do not wait; who wants this one gets the same result. */
static int
use_shared(struct shared **to, const struct archive_source_values *values,
    const char *address, bool stays, struct err *err)
{
	struct shared *found;
	int rc;

	pthread_mutex_lock(&all.lock);
	found = find_shared(values, address, stays);
	if (found == NULL) {
		found = add_shared(values, address, stays);
		found->users = 1;
		pthread_mutex_unlock(&all.lock);
		rc = open_mirror(found, &found->why);
		pthread_mutex_lock(&all.lock);
		found->state = rc == 0 ? OPEN : FAILED;
		if (rc != 0)
			remove_shared(found);
		pthread_cond_broadcast(&all.opened);
	} else {
		found->users++;
		while (found->state == OPENING)
			pthread_cond_wait(&all.opened, &all.lock);
	}
	if (found->state == FAILED) {
		*err = found->why;
		if (--found->users == 0)
			free_shared(found);
		found = NULL;
	}
	*to = found;
	pthread_mutex_unlock(&all.lock);
	return found != NULL ? 0 : -1;
}

/* ---- the source ---- */

static int
answer(void *arg, struct reader *reader, const struct pages_question *question,
    struct wire_writer *w, bool *last, struct err *err)
{
	struct archive_source *source = arg;
	const struct wire_writer empty = *w;
	int rc;

	do {
		*w = empty;
		rc = mirror_answer(source->shared->mirror, reader,
		    &question->header, &question->query, w, last, WAIT_NS, err);
	} while (rc == MIRROR_FETCHING && !source->is_dropped);
	if (rc == MIRROR_FETCHING)
		return err_set(err, "nobody waits for the page");
	return rc == MIRROR_DONE ? 0 : -1;
}

static void
set_dropped(void *arg, bool is_dropped)
{
	struct archive_source *source = arg;

	source->is_dropped = is_dropped;
}

static void
close_source(void *arg)
{
	struct archive_source *old = arg;

	pthread_mutex_lock(&all.lock);
	old->shared->users--;
	pthread_mutex_unlock(&all.lock);
	free(old);
}

int
archive_source_open(struct pages *pages,
    const struct archive_source_values *values, const char *address, bool stays,
    struct err *err)
{
	static const struct local_source_answerer answerer = {
		.answer = answer,
		.set_dropped = set_dropped,
		.close = close_source,
	};
	struct archive_source *source = memory_zero(1, sizeof(*source));
	struct reader *reader = NULL;

	if (use_shared(&source->shared, values, address, stays, err) != 0) {
		free(source);
		return -1;
	}
	if (reader_open_beside(&reader, source->shared->first, err) != 0) {
		close_source(source);
		return -1;
	}
	local_source_open_with(pages, reader, &answerer, source);
	return 0;
}
