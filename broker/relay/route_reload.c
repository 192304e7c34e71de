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

#define LOOK_NS NS_PER_SECOND
#define SOON_NS (NS_PER_SECOND / 10)

/* Rows are views of the table: replace both together. */
struct chart {
	struct routes routes;
	struct partition_table table;
};

struct route_reload {
	struct route_reload_options options;
	struct chart *chart;
	struct relay *relay;
	struct loop *loop;
	struct loop_timer look;
	struct stat seen; /* zeros: the file does not exist */
};

static struct stat
look_at(const struct route_reload *route_reload)
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
chart_free(struct chart **chart)
{
	if (*chart != NULL)
		partition_table_clear(&(*chart)->table);
	free(*chart);
	*chart = NULL;
}

static int
fill(struct chart *chart, const struct route_reload_options *options,
    struct err *err)
{
	struct routes *routes = &chart->routes;

	for (uint32_t i = 0; i < options->given->count; i++)
		if (routes_parse(routes, options->given->at[i], err) != 0)
			return -1;
	if (partition_table_read(&chart->table, options->path, err) != 0)
		return -1;
	if (routes_add_table(routes, &chart->table, err) != 0)
		return err_prefix(err, "%s", options->path);
	if (options->fallback == NULL)
		return 0;
	return routes_add(routes, text_of("*"), options->fallback, err);
}

static struct chart *
chart_new(const struct route_reload_options *options, struct err *err)
{
	struct chart *chart = memory_zero(1, sizeof(*chart));

	if (fill(chart, options, err) != 0)
		chart_free(&chart);
	return chart;
}

static void
say_version(const struct route_reload *route_reload)
{
	const struct partition_table *table = &route_reload->chart->table;

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
	made->seen = look_at(made);
	made->chart = chart_new(options, err);
	if (made->chart == NULL) {
		free(made);
		return -1;
	}
	say_version(made);
	*route_reload = made;
	return 0;
}

void
route_reload_close(struct route_reload **route_reload)
{
	if (*route_reload == NULL)
		return;
	route_reload_stop(*route_reload);
	chart_free(&(*route_reload)->chart);
	free(*route_reload);
	*route_reload = NULL;
}

const struct routes *
route_reload_routes(const struct route_reload *route_reload)
{
	return &route_reload->chart->routes;
}

static int
adopt(struct route_reload *route_reload, struct chart **fresh, struct err *err)
{
	uint64_t now = route_reload->chart->table.version;
	struct chart *old;

	if ((*fresh)->table.version < now)
		return err_set(err,
		    "%s: version %" PRIu64 " is older than version %" PRIu64
		    ", which is in use",
		    route_reload->options.path, (*fresh)->table.version, now);
	if (relay_change(route_reload->relay, &(*fresh)->routes, err) != 0)
		return -1;
	old = route_reload->chart;
	route_reload->chart = *fresh;
	*fresh = old;
	route_reload->relay->table_version = route_reload->chart->table.version;
	if (now != route_reload->chart->table.version)
		say_version(route_reload);
	return 0;
}

static int
read_again(struct route_reload *route_reload, struct err *err)
{
	struct chart *fresh;
	int rc;

	route_reload->seen = look_at(route_reload);
	fresh = chart_new(&route_reload->options, err);
	if (fresh == NULL)
		return -1;
	rc = adopt(route_reload, &fresh, err);
	chart_free(&fresh);
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
on_look(void *arg, struct loop_timer *timer)
{
	struct route_reload *route_reload = arg;
	struct stat now = look_at(route_reload);
	struct err err = { 0 };

	(void)timer;
	if (!is_same(&now, &route_reload->seen) &&
	    read_again(route_reload, &err) != 0)
		log_warn("keeping the previous partition table: %s", err.text);
	loop_set_timer(route_reload->loop, &route_reload->look,
	    clock_monotonic_ns() + LOOK_NS, 0);
}

void
route_reload_start(
    struct route_reload *route_reload, struct relay *relay, struct loop *loop)
{
	route_reload->relay = relay;
	route_reload->loop = loop;
	relay->table_version = route_reload->chart->table.version;
	route_reload->look =
	    (struct loop_timer){ .on_timer = on_look, .arg = route_reload };
	loop_set_timer(
	    loop, &route_reload->look, clock_monotonic_ns() + LOOK_NS, 0);
}

void
route_reload_stop(struct route_reload *route_reload)
{
	if (route_reload->loop != NULL)
		loop_stop_timer(route_reload->loop, &route_reload->look);
}

void
route_reload_doubt(struct route_reload *route_reload)
{
	int64_t soon_ns = clock_monotonic_ns() + SOON_NS;

	if (route_reload->look.at_ns == 0 || route_reload->look.at_ns > soon_ns)
		loop_set_timer(
		    route_reload->loop, &route_reload->look, soon_ns, 0);
}
