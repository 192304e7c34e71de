/*
 * whatif - what a question about a start of many nodes costs, apart from
 * reading it: to find what its phases wait for, once, and to go through it
 * again, once for each answer.
 *
 *	whatif [NODES]		of three images each (10000)
 *
 * Every tenth node pulls and saves an image, with ten places, and the others
 * fetch it from those; the least of several rounds is printed.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/critical/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/hash/prng.h"
#include "proto/os/clock.h"

enum { PREP, RES, PULL, SAVE, TORRENT, LOAD, PHASES };
enum { IMAGES = 3, ROUNDS = 15 };

static uint64_t state = 1;
static struct phases_read phases;
static struct critical_rules rules;

static int64_t
seconds(uint32_t below)
{
	return (int64_t)((prng_bits(&state) >> 11) %
			 (below * (uint64_t)NS_PER_SECOND));
}

static int64_t
add(uint32_t node, uint32_t phase, uint32_t key, int64_t begin_ns,
    int64_t length_ns)
{
	phases.items[phases.count++] =
	    (struct phases_item){ .begin_ns = begin_ns,
		    .end_ns = begin_ns + length_ns,
		    .ended_ns = begin_ns + length_ns,
		    .node = node,
		    .phase = phase,
		    .key = key };
	return begin_ns + length_ns;
}

static void
make(uint32_t nodes)
{
	char name[20];

	phases.items = calloc(nodes * (2 + 3 * IMAGES), sizeof(*phases.items));
	if (phases.items == NULL)
		exit(1);
	string_table_init(&phases.nodes);
	string_table_init(&phases.keys);
	(void)string_table_add(&phases.keys, text_of(""));
	for (uint32_t i = 0; i < nodes; i++) {
		int64_t at_ns = add(i, PREP, 0, seconds(300), seconds(90));
		int64_t begin_ns = at_ns;

		snprintf(name, sizeof(name), "n%" PRIu32, i);
		(void)string_table_add(&phases.nodes, text_of(name));
		for (uint32_t key = 1; key <= IMAGES; key++) {
			snprintf(name, sizeof(name), "image%" PRIu32, key);
			(void)string_table_add(&phases.keys, text_of(name));
			if (i % 10 == key) {
				at_ns = add(i, PULL, key, at_ns, seconds(60));
				at_ns = add(i, SAVE, key, at_ns, seconds(20));
			} else {
				at_ns =
				    add(i, TORRENT, key, at_ns, seconds(60));
			}
			at_ns = add(i, LOAD, key, at_ns, seconds(20));
		}
		add(i, RES, 0, begin_ns, at_ns + seconds(5) - begin_ns);
	}
}

static void
say(uint32_t phase, enum critical_wait wait, uint32_t other)
{
	rules.waits[phase * PHASES + other] |= (uint8_t)wait;
}

static void
make_rules(void)
{
	rules = (struct critical_rules){ .phases = PHASES,
		.waits = calloc(PHASES * PHASES, 1),
		.places = calloc(PHASES, sizeof(*rules.places)),
		.is_required = calloc(PHASES, sizeof(*rules.is_required)),
		.required = 2,
		.first = PREP,
		.any = true };
	if (rules.waits == NULL || rules.places == NULL ||
	    rules.is_required == NULL)
		exit(1);
	rules.is_required[PREP] = rules.is_required[RES] = true;
	rules.places[PULL] = 10;
	say(RES, CRITICAL_AFTER, PREP);
	for (uint32_t inner = PULL; inner <= LOAD; inner++)
		say(RES, CRITICAL_END_AFTER, inner);
	say(SAVE, CRITICAL_AFTER, PULL);
	say(TORRENT, CRITICAL_AFTER_ANY, SAVE);
	say(LOAD, CRITICAL_AFTER, TORRENT);
	say(LOAD, CRITICAL_AFTER, PULL);
}

static void
least(int64_t *least_ns, int64_t *since_ns)
{
	int64_t now_ns = clock_monotonic_ns();

	if (now_ns - *since_ns < *least_ns)
		*least_ns = now_ns - *since_ns;
	*since_ns = now_ns;
}

int
main(int argc, char **argv)
{
	uint32_t nodes =
	    argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000;
	struct critical_change change = { .length_ns = NULL };
	int64_t find_ns = INT64_MAX, recorded_ns = INT64_MAX;
	int64_t changed_ns = INT64_MAX;

	make(nodes);
	make_rules();
	for (int round = 0; round < ROUNDS; round++) {
		int64_t since_ns = clock_monotonic_ns();
		struct critical_run recorded, changed;
		struct critical_waits waits;

		critical_waits_find(&waits, &phases, &rules);
		least(&find_ns, &since_ns);
		critical_run_recorded(&recorded, &waits);
		least(&recorded_ns, &since_ns);
		critical_run_changed(&changed, &waits, &recorded, &change);
		least(&changed_ns, &since_ns);
		if (changed.ready_ns != recorded.ready_ns)
			return 1;
		critical_run_clear(&recorded);
		critical_run_clear(&changed);
		critical_waits_clear(&waits);
	}
	printf("%" PRIu32 " nodes, %" PRIu32 " phases: %.1f ms to find what "
	       "they wait for, %.1f ms as recorded, %.1f ms an answer\n",
	    nodes, phases.count, (double)find_ns / 1e6,
	    (double)recorded_ns / 1e6, (double)changed_ns / 1e6);
	free(rules.waits);
	free(rules.places);
	free(rules.is_required);
	phases_read_clear(&phases);
	return 0;
}
