/*
 * source - records for an exporter, wherever they are.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggregator/reader.h"
#include "exporters/asker.h"
#include "proto/clock.h"
#include "proto/instance.h"
#include "proto/log.h"

enum {
	PAGE_BYTES = 128 << 10, /* fits a frame of any door */
	NAME_BYTES = INSTANCE_PATH_BYTES + 16,
};
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
	{ .name = NULL },
};

struct source {
	struct reader *reader; /* NULL: ask the door */
	struct asker asker;
	bool has_door, is_near; /* on this machine */
	char name[NAME_BYTES];

	enum source_what what;
	struct text partition;
	struct wire_query query;
	char position[WIRE_CURSOR_BYTES_MAX]; /* of the next page */
	bool last;                            /* the page is the last one */

	unsigned char *page; /* local: where the reader writes it */
	struct wire_room room;
	struct wire_cursor cursor; /* in the page */
	struct source_clock clock;
};

struct wire_query
source_query(uint32_t kinds)
{
	return (struct wire_query){
		.kinds = kinds,
		.from_ns = TIME_MIN_NS,
		.to_ns = TIME_MAX_NS,
	};
}

/* ---- opening ---- */

static struct source *
make(const char *name)
{
	struct source *s = calloc(1, sizeof(*s));

	if (s == NULL)
		abort(); /* out of memory */
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

	if (asker_open(&s->asker, endpoint, silence_ns, err) != 0) {
		free(s);
		return -1;
	}
	s->has_door = true;
	s->is_near = strncmp(endpoint, "ipc://", 6) == 0;
	*source = s;
	return 0;
}

static int
open_store(struct source **source, const char *dir, struct err *err)
{
	struct source *s = make(dir);
	uint64_t lag;

	if (reader_open(&s->reader, dir, err) != 0 ||
	    reader_lag(s->reader, &lag, err) != 0) {
		reader_close(&s->reader);
		free(s);
		return err_prefix(err, "%s", dir);
	}
	if (lag > 0)
		log_warn("%s: %llu batches are not folded yet and not shown; "
			 "an aggregator that runs takes them in",
		    dir, (unsigned long long)lag);
	s->page = malloc(WIRE_BODY_BYTES_MAX); /* used as far as needed */
	if (s->page == NULL)
		abort(); /* out of memory */
	*source = s;
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

int
source_open(struct source **source, struct err *err)
{
	char endpoint[INSTANCE_PATH_BYTES], store[INSTANCE_PATH_BYTES];
	struct stat st;

	*source = NULL;
	choose();
	if (values.store != NULL)
		return open_store(source, values.store, err);
	if (values.connect != NULL)
		return source_open_endpoint(
		    source, values.connect, SILENCE_NS, err);
	/* A directory whose path is too long for sockets can have a store. */
	if (instance_endpoint(endpoint, "reader", err) == 0 &&
	    source_is_listening(endpoint))
		return source_open_endpoint(source, endpoint, SILENCE_NS, err);
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
	if (s->has_door)
		asker_close(&s->asker);
	reader_close(&s->reader);
	source_clock_clear(&s->clock);
	wire_room_clear(&s->room);
	free(s->page);
	free(s);
	*source = NULL;
}

const char *
source_name(const struct source *source)
{
	return source->name;
}

/* ---- reading ---- */

static int
page_from_store(struct source *s, struct wire_header *header, struct text *body,
    struct err *err)
{
	struct wire_writer w;
	bool last = true;
	int rc = -1;

	wire_writer_init(&w, s->page, WIRE_BODY_BYTES_MAX);
	switch (s->what) {
	case SOURCE_RECORDS:
		rc = reader_select(
		    s->reader, s->partition, &s->query, &w, &last, err);
		break;
	case SOURCE_STATS:
	case SOURCE_STATS_BY_NODE:
		rc = reader_stats(s->reader, s->partition, &s->query,
		    s->what == SOURCE_STATS_BY_NODE, &w, &last, err);
		break;
	case SOURCE_STATUS:
		rc = reader_status(s->reader, &s->query, &w, &last, err);
		break;
	}
	if (rc != 0)
		return err_prefix(err, "%s", s->name);
	*header = (struct wire_header){
		.type = WIRE_PAGE,
		.flags = last ? WIRE_FLAG_LAST : 0,
		.records = w.records,
		.body_bytes = (uint32_t)w.bytes,
	};
	*body = (struct text){ (const char *)w.at, (uint32_t)w.bytes };
	return 0;
}

static struct wire_header
make_question(const struct source *s)
{
	static const enum wire_type types[] = {
		[SOURCE_RECORDS] = WIRE_SELECT,
		[SOURCE_STATS] = WIRE_STATS,
		[SOURCE_STATS_BY_NODE] = WIRE_STATS,
		[SOURCE_STATUS] = WIRE_STATUS,
	};

	return (struct wire_header){
		.type = types[s->what],
		.flags = (uint16_t)((s->is_near ? WIRE_FLAG_PLAIN : 0) |
				    (s->what == SOURCE_STATS_BY_NODE
					    ? WIRE_FLAG_BY_NODE
					    : 0)),
		.partition = s->partition,
	};
}

static int
page_from_door(struct source *s, struct wire_header *header, struct text *body,
    struct err *err)
{
	struct wire_header question = make_question(s);

	if (asker_ask(&s->asker, &question, &s->query, header, body, err) != 0)
		return err_prefix(err, "%s", s->name);
	return 0;
}

/* While this page is read, the door makes the next one. */
static void
ask_ahead(struct source *s)
{
	struct wire_header question = make_question(s);

	asker_ask_ahead(&s->asker, &question, &s->query);
}

static int
next_page(struct source *s, struct err *err)
{
	struct wire_header header;
	struct text body, position, records;
	enum wire_fault fault;
	int rc = s->has_door ? page_from_door(s, &header, &body, err)
			     : page_from_store(s, &header, &body, err);

	if (rc != 0)
		return -1;
	fault = wire_page_body(&header, body, &s->room, &position, &records);
	if (fault == WIRE_OK && position.bytes > sizeof(s->position))
		fault = WIRE_LIMIT;
	if (fault != WIRE_OK)
		return err_set(err, "%s: a page cannot be read: %s", s->name,
		    wire_fault_name(fault));
	s->last = (header.flags & WIRE_FLAG_LAST) != 0;
	/* A page that neither ends nor moves on would be asked for for ever. */
	if (!s->last && header.records == 0 &&
	    text_equal(position, s->query.cursor))
		return err_set(err, "%s: the answers go in a circle", s->name);
	if (position.bytes > 0)
		memcpy(s->position, position.at, position.bytes);
	s->query.cursor = (struct text){ s->position, position.bytes };
	wire_cursor_init(&s->cursor, &header, records);
	if (s->has_door && !s->last)
		ask_ahead(s);
	return 0;
}

static int
select_raw(struct source *source, enum source_what what, struct text partition,
    const struct wire_query *query, struct err *err)
{
	source->what = what;
	source->partition = partition;
	source->query = *query;
	source->query.cursor = (struct text){ source->position, 0 };
	asker_forget(&source->asker);
	if (source->query.page_bytes == 0)
		source->query.page_bytes = PAGE_BYTES;
	return next_page(source, err);
}

static int
next_raw(struct source *source, struct record *record, struct err *err)
{
	while (!wire_next(&source->cursor, record)) {
		if (source->last)
			return 0;
		if (next_page(source, err) != 0)
			return -1;
	}
	return 1;
}

static int
read_clocks(struct source *source, struct text partition,
    const struct wire_query *query,
    void (*take)(struct source_clock *clock, const struct record *record),
    struct err *err)
{
	struct record record;
	int rc;

	if (select_raw(source, SOURCE_RECORDS, partition, query, err) != 0)
		return -1;
	while ((rc = next_raw(source, &record, err)) > 0)
		take(&source->clock, &record);
	return rc;
}

int
source_load_clocks(struct source *source, struct text partition,
    const struct wire_query *asked, struct err *err)
{
	struct source_clock *clock = &source->clock;
	struct wire_query query;
	int rc;

	if (!source_clock_wants(clock, partition, asked, &query))
		return 0;
	source_clock_begin(clock, partition, asked, &query);
	rc = read_clocks(source, partition, &query, source_clock_add, err);
	if (rc == 0 && source_clock_seeks_far(asked, &query))
		rc = read_clocks(
		    source, partition, &query, source_clock_add_far, err);
	for (uint32_t i = 0; rc == 0 && i < clock->far_count; i++)
		if (source_clock_far(clock, i, asked, &query))
			rc = read_clocks(
			    source, partition, &query, source_clock_add, err);
	source_clock_end(clock);
	return rc;
}

int
source_select(struct source *source, enum source_what what,
    struct text partition, const struct wire_query *query, struct err *err)
{
	struct wire_query wide = *query;

	if (query->node.bytes > 2 * NAME_BYTES_MAX + 1 ||
	    query->name.bytes > 2 * NAME_BYTES_MAX + 1)
		return err_set(err, "a pattern is longer than %d bytes",
		    2 * NAME_BYTES_MAX + 1);
	source->clock.on = false;
	if (what == SOURCE_RECORDS) {
		if (source_load_clocks(source, partition, query, err) != 0)
			return -1;
		source_clock_widen(&source->clock, &wide);
	}
	return select_raw(source, what, partition, &wide, err);
}

int
source_next(struct source *source, struct record *record, struct err *err)
{
	int rc;

	do
		rc = next_raw(source, record, err);
	while (rc > 0 && !source_clock_apply(&source->clock, record));
	return rc;
}

struct source_clock *
source_clock(struct source *source)
{
	return &source->clock;
}

void
source_default_clock(enum clock_choice choice)
{
	if (opt_origin(&source_options[CLOCK_ROW]) == OPT_DEFAULT)
		values.clock = (int)choice;
}
