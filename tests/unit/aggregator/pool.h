/*
 * pool - a pool of nodes and its events, for tests of the indexer and of
 * readers: made from a seed, sent through a rig in any order, read back as
 * lines.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_AGGREGATOR_POOL_H
#define TESTS_UNIT_AGGREGATOR_POOL_H

#include "tests/unit/aggregator/lines.h"
#include "tests/unit/aggregator/rig.h"

static const char model[] =
    "message = \"kv\"\n"
    "phase \"prep\" { start = \"prep:start\" end = \"prep:end\" "
    "required = true }\n"
    "phase \"pull\" { start = \"pool:pull-start\" end = \"pool:pull-end\" "
    "key = \"img\" measured = \"diff\" }\n"
    "phase \"torrent\" { start = \"pool:torrent\" end = \"pool:load-start\" "
    "key = \"img\" unmatched = \"ignore\" }\n"
    "phase \"load\" { start = \"pool:load-start\" end = \"pool:load-end\" "
    "key = \"img\" }\n"
    "phase \"job\" { start = \"job:start\" end = \"job:end\" "
    "scope = \"run\" run = \"id\" }\n";

static struct rig rig;

static inline int
set_up(void **state)
{
	(void)state;
	rig_open(&rig, model);
	return 0;
}

static inline int
tear_down(void **state)
{
	(void)state;
	rig_close(&rig);
	return 0;
}

enum { EVENTS_MAX = 20000, SESSIONS = 7 };

struct event {
	int64_t time_ns;
	char node[16];
	const char *source, *name;
	char message[64];
	unsigned session;
};

static struct event events[EVENTS_MAX];
static unsigned count;

static inline void
add(uint64_t *random, unsigned node, int64_t time_ns, const char *source,
    const char *name, const char *format, unsigned number)
{
	struct event *event = &events[count++];

	assert_true(count <= EVENTS_MAX);
	*event = (struct event){
		.time_ns = time_ns,
		.source = source,
		.name = name,
		.session = (unsigned)(check_random(random) % SESSIONS),
	};
	snprintf(event->node, sizeof(event->node), "node-%u", node);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (format != NULL)
		snprintf(event->message, sizeof(event->message), format, number,
		    (unsigned)(check_random(random) % 100000));
#pragma GCC diagnostic pop
}

/* Nodes over some hours: preparation, images pulled again and again, torrents
 * that never end, jobs across nodes.  No two events have the same time, so
 * there is one correct order. */
static inline void
make_pool(uint64_t *random, unsigned nodes, unsigned rounds)
{
	int64_t now = RIG_T0;
	unsigned node, round;

	count = 0;
	for (round = 0; round < rounds; round++) {
		for (node = 0; node < nodes; node++) {
			unsigned img = (unsigned)(check_random(random) % 3);
			int64_t step =
			    (int64_t)(check_random(random) % 20000000000u) + 10;

			now += step;
			if (round == 0)
				add(random, node, now, "prep", "start", "x=%u",
				    node);
			add(random, node, now + 1, "pool", "pull-start",
			    "img=i%u,a=%u", img);
			add(random, node, now + 2, "pool", "torrent", "img=i%u",
			    img);
			if (check_random(random) % 4 != 0)
				add(random, node, now + 3 + step / 2, "pool",
				    "pull-end",
				    check_random(random) % 2
					? "img=i%u,diff=1.%05u"
					: "img=i%u,size=%u",
				    img);
			if (check_random(random) % 3 != 0) {
				add(random, node, now + 4 + step / 2, "pool",
				    "load-start", "img=i%u", img);
				add(random, node, now + 5 + step, "pool",
				    "load-end", "img=i%u", img);
			}
			add(random, node, now + 6, "job",
			    check_random(random) % 2 ? "start" : "end",
			    "id=job%u", (unsigned)(check_random(random) % 5));
			if (round == rounds / 2)
				add(random, node, now + 7, "prep", "end", NULL,
				    0);
		}
	}
}

static inline void
shuffle(uint64_t *random)
{
	unsigned i;

	for (i = count; i > 1; i--) {
		unsigned j = (unsigned)(check_random(random) % i);
		struct event event = events[j];

		events[j] = events[i - 1];
		events[i - 1] = event;
	}
}

static inline int
by_time(const void *left, const void *right)
{
	const struct event *a = left, *b = right;

	return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

/* Write them to the journal in their current order, in batches of any size,
 * and index them from time to time. */
static inline void
take_in(uint64_t *random, bool indexing)
{
	unsigned i;

	for (i = 0; i < count; i++) {
		const struct event *event = &events[i];

		rig_event(&rig, event->node, event->time_ns, event->source,
		    event->name, event->message[0] ? event->message : NULL);
		if (i + 1 == count || events[i + 1].session != event->session ||
		    check_random(random) % 50 == 0)
			rig_send(&rig, event->session);
		if (indexing && check_random(random) % 500 == 0)
			rig_indexer(&rig);
	}
	rig_indexer(&rig);
	rig_verify(&rig);
}

static inline char *
read_phases(void)
{
	return sorted_lines(without_ids(rig_all(&rig, RECORD_PHASE)));
}

static inline char *
read_stats(void)
{
	uint64_t records;

	return without_ids(rig_read(
	    &rig, RIG_STATS, rig_query(1u << RECORD_ENTITY, 0), &records));
}

static inline char *
read_events(void)
{
	return sorted_lines(without_ids(rig_all(&rig, RECORD_EVENT)));
}

static inline void
assert_same(char *a, char *b)
{
	assert_string_equal(a, b);
	free(a);
	free(b);
}

/* A number in the first line with `id`. */
static inline double
property(const char *stats, const char *id, const char *name)
{
	char what[64];
	const char *line = strstr(stats, id);

	assert_non_null(line);
	snprintf(what, sizeof(what), " %s=", name);
	line = strstr(line, what);
	assert_non_null(line);
	return strtod(line + strlen(what), NULL);
}

/* Add an entity to the batch; `pairs`: name, text ... NULL. */
static inline void
put_entity(const char *id, const char *const *pairs)
{
	unsigned char bytes[512];
	struct wire_writer w;
	struct record record = { .kind = RECORD_ENTITY,
		.source = text_of("run"),
		.name = text_of(id) };

	wire_writer_init(&w, bytes, sizeof(bytes));
	for (; pairs[0] != NULL; pairs += 2) {
		wire_put_text_attribute(
		    &w, text_of(pairs[0]), text_of(pairs[1]));
		record.attributes++;
	}
	record.pairs = (struct text){ (const char *)bytes, (uint32_t)w.bytes };
	rig_record(&rig, "n", &record);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
