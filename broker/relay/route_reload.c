/*
 * route_reload - the routes of a broker, and the table that they come from.
 * SPDX-License-Identifier: MIT
 */
#include "broker/relay/route_reload.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "proto/os/clock.h"
#include "proto/os/log.h"

#define LOOK_NS NS_PER_SECOND
#define SOON_NS (NS_PER_SECOND / 10)

/* Rows are views of the table, so both go together. */
struct chart {
	struct routes routes;
	struct partitions table;
};

struct guide {
	struct guide_options options;
	struct chart *chart;
	struct relay *relay;
	struct loop *loop;
	struct loop_timer look;
	struct stat seen; /* zeros: it was not there */
};

static struct stat
look_at(const struct guide *guide)
{
	struct stat st;

	return stat(guide->options.path, &st) == 0 ? st : (struct stat){ 0 };
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
		partitions_clear(&(*chart)->table);
	free(*chart);
	*chart = NULL;
}

static int
fill(struct chart *chart, const struct guide_options *options, struct err *err)
{
	struct routes *routes = &chart->routes;

	for (uint32_t i = 0; i < options->given->count; i++)
		if (routes_parse(routes, options->given->at[i], err) != 0)
			return -1;
	if (partitions_read(&chart->table, options->path, err) != 0)
		return -1;
	if (routes_add_table(routes, &chart->table, err) != 0)
		return err_prefix(err, "%s", options->path);
	if (options->fallback == NULL)
		return 0;
	return routes_add(routes, text_of("*"), options->fallback, err);
}

static struct chart *
chart_new(const struct guide_options *options, struct err *err)
{
	struct chart *chart = calloc(1, sizeof(*chart));

	if (chart == NULL)
		abort();
	if (fill(chart, options, err) != 0)
		chart_free(&chart);
	return chart;
}

static void
say_version(const struct guide *guide)
{
	const struct partitions *table = &guide->chart->table;

	if (table->version > 0)
		log_info("%s: version %" PRIu64 ", %u rows",
		    guide->options.path, table->version, table->count);
}

int
guide_open(
    struct guide **guide, const struct guide_options *options, struct err *err)
{
	struct guide *made = calloc(1, sizeof(*made));

	if (made == NULL)
		abort();
	made->options = *options;
	made->seen = look_at(made);
	made->chart = chart_new(options, err);
	if (made->chart == NULL) {
		free(made);
		return -1;
	}
	say_version(made);
	*guide = made;
	return 0;
}

void
guide_close(struct guide **guide)
{
	if (*guide == NULL)
		return;
	guide_stop(*guide);
	chart_free(&(*guide)->chart);
	free(*guide);
	*guide = NULL;
}

const struct routes *
guide_routes(const struct guide *guide)
{
	return &guide->chart->routes;
}

static int
adopt(struct guide *guide, struct chart **fresh, struct err *err)
{
	uint64_t now = guide->chart->table.version;
	struct chart *old;

	if ((*fresh)->table.version < now)
		return err_set(err,
		    "%s: version %" PRIu64 " is older than %" PRIu64
		    ", which is in use",
		    guide->options.path, (*fresh)->table.version, now);
	if (relay_change(guide->relay, &(*fresh)->routes, err) != 0)
		return -1;
	old = guide->chart;
	guide->chart = *fresh;
	*fresh = old;
	guide->relay->table_version = guide->chart->table.version;
	if (now != guide->chart->table.version)
		say_version(guide);
	return 0;
}

static int
read_again(struct guide *guide, struct err *err)
{
	struct chart *fresh;
	int rc;

	guide->seen = look_at(guide);
	fresh = chart_new(&guide->options, err);
	if (fresh == NULL)
		return -1;
	rc = adopt(guide, &fresh, err);
	chart_free(&fresh);
	return rc;
}

int
guide_reload(struct guide *guide, const char *fallback, struct err *err)
{
	const char *before = guide->options.fallback;

	guide->options.fallback = fallback;
	if (read_again(guide, err) == 0)
		return 0;
	guide->options.fallback = before;
	return -1;
}

static void
on_look(void *arg, struct loop_timer *timer)
{
	struct guide *guide = arg;
	struct stat now = look_at(guide);
	struct err err = { "" };

	(void)timer;
	if (!is_same(&now, &guide->seen) && read_again(guide, &err) != 0)
		log_warn("the partition table stays as it was: %s", err.text);
	loop_set_timer(
	    guide->loop, &guide->look, clock_monotonic_ns() + LOOK_NS, 0);
}

void
guide_start(struct guide *guide, struct relay *relay, struct loop *loop)
{
	guide->relay = relay;
	guide->loop = loop;
	relay->table_version = guide->chart->table.version;
	guide->look = (struct loop_timer){ .on_timer = on_look, .arg = guide };
	loop_set_timer(loop, &guide->look, clock_monotonic_ns() + LOOK_NS, 0);
}

void
guide_stop(struct guide *guide)
{
	if (guide->loop != NULL)
		loop_stop_timer(guide->loop, &guide->look);
}

void
guide_doubt(struct guide *guide)
{
	int64_t soon_ns = clock_monotonic_ns() + SOON_NS;

	if (guide->look.at_ns == 0 || guide->look.at_ns > soon_ns)
		loop_set_timer(guide->loop, &guide->look, soon_ns, 0);
}
