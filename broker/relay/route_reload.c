/*
 * route_reload - reads the routes of a broker again when the partition table
 * changes.
 * SPDX-License-Identifier: MIT
 */
#include "broker/relay/route_reload.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

#define POLL_NS NS_PER_SECOND
#define SOON_NS (NS_PER_SECOND / 10)

/* Rows are views of the table: replace both together. */
struct snapshot {
	struct routes routes;
	struct partition_table table;
};

struct route_reload {
	struct route_reload_options options;
	struct snapshot *snapshot;
	struct relay *relay;
	struct loop *loop;
	struct loop_timer poll;
	struct stat seen; /* zeros: the file does not exist */
};

static struct stat
file_status(const struct route_reload *route_reload)
{
	struct stat st;

	return stat(route_reload->options.path, &st) == 0 ? st
							  : (struct stat){ 0 };
}

static bool
is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void
snapshot_free(struct snapshot **snapshot)
{
	if (*snapshot != NULL)
		partition_table_clear(&(*snapshot)->table);
	free(*snapshot);
	*snapshot = NULL;
}

static int
fill(struct snapshot *snapshot, const struct route_reload_options *options,
    struct err *err)
{
	struct routes *routes = &snapshot->routes;

	for (uint32_t i = 0; i < options->given->count; i++)
		if (routes_parse(routes, options->given->at[i], err) != 0)
			return -1;
	if (partition_table_read(&snapshot->table, options->path, err) != 0)
		return -1;
	if (routes_add_table(routes, &snapshot->table, err) != 0)
		return err_prefix(err, "%s", options->path);
	if (options->fallback == NULL)
		return 0;
	return routes_add(routes, text_of("*"), options->fallback, err);
}

static struct snapshot *
snapshot_new(const struct route_reload_options *options, struct err *err)
{
	struct snapshot *snapshot = memory_zero(1, sizeof(*snapshot));

	if (fill(snapshot, options, err) != 0)
		snapshot_free(&snapshot);
	return snapshot;
}

static void
log_version(const struct route_reload *route_reload)
{
	const struct partition_table *table = &route_reload->snapshot->table;

	if (table->version > 0)
		log_info("%s: using version %" PRIu64 " with %u rows",
		    route_reload->options.path, table->version, table->count);
}

int
route_reload_open(struct route_reload **route_reload,
    const struct route_reload_options *options, struct err *err)
{
	struct route_reload *made = memory_zero(1, sizeof(*made));

	made->options = *options;
	made->seen = file_status(made);
	made->snapshot = snapshot_new(options, err);
	if (made->snapshot == NULL) {
		free(made);
		return -1;
	}
	log_version(made);
	*route_reload = made;
	return 0;
}

void
route_reload_close(struct route_reload **route_reload)
{
	if (*route_reload == NULL)
		return;
	route_reload_stop(*route_reload);
	snapshot_free(&(*route_reload)->snapshot);
	free(*route_reload);
	*route_reload = NULL;
}

const struct routes *
route_reload_routes(const struct route_reload *route_reload)
{
	return &route_reload->snapshot->routes;
}

static int
adopt(
    struct route_reload *route_reload, struct snapshot **fresh, struct err *err)
{
	uint64_t now = route_reload->snapshot->table.version;
	struct snapshot *old;

	if ((*fresh)->table.version < now)
		return err_set(err,
		    "%s: version %" PRIu64 " is older than version %" PRIu64
		    ", which is in use",
		    route_reload->options.path, (*fresh)->table.version, now);
	if (relay_change(route_reload->relay, &(*fresh)->routes, err) != 0)
		return -1;
	old = route_reload->snapshot;
	route_reload->snapshot = *fresh;
	*fresh = old;
	route_reload->relay->table_version =
	    route_reload->snapshot->table.version;
	if (now != route_reload->snapshot->table.version)
		log_version(route_reload);
	return 0;
}

static int
read_again(struct route_reload *route_reload, struct err *err)
{
	struct snapshot *fresh;
	int rc;

	route_reload->seen = file_status(route_reload);
	fresh = snapshot_new(&route_reload->options, err);
	if (fresh == NULL)
		return -1;
	rc = adopt(route_reload, &fresh, err);
	snapshot_free(&fresh);
	return rc;
}

int
route_reload_reload(
    struct route_reload *route_reload, const char *fallback, struct err *err)
{
	const char *before = route_reload->options.fallback;

	route_reload->options.fallback = fallback;
	if (read_again(route_reload, err) == 0)
		return 0;
	route_reload->options.fallback = before;
	return -1;
}

static void
on_poll(void *arg, struct loop_timer *timer)
{
	struct route_reload *route_reload = arg;
	struct stat now = file_status(route_reload);
	struct err err = { 0 };

	(void)timer;
	if (!is_same(&now, &route_reload->seen) &&
	    read_again(route_reload, &err) != 0)
		log_warn("keeping the previous partition table: %s", err.text);
	loop_set_timer(route_reload->loop, &route_reload->poll,
	    clock_monotonic_ns() + POLL_NS, 0);
}

void
route_reload_start(
    struct route_reload *route_reload, struct relay *relay, struct loop *loop)
{
	route_reload->relay = relay;
	route_reload->loop = loop;
	relay->table_version = route_reload->snapshot->table.version;
	route_reload->poll =
	    (struct loop_timer){ .on_timer = on_poll, .arg = route_reload };
	loop_set_timer(
	    loop, &route_reload->poll, clock_monotonic_ns() + POLL_NS, 0);
}

void
route_reload_stop(struct route_reload *route_reload)
{
	if (route_reload->loop != NULL)
		loop_stop_timer(route_reload->loop, &route_reload->poll);
}

void
route_reload_soon(struct route_reload *route_reload)
{
	int64_t soon_ns = clock_monotonic_ns() + SOON_NS;

	if (route_reload->poll.at_ns == 0 || route_reload->poll.at_ns > soon_ns)
		loop_set_timer(
		    route_reload->loop, &route_reload->poll, soon_ns, 0);
}
