/*
 * phases - every moment of a start-up is counted once: against a slow count,
 * second by second.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/plot.h"

#include "proto/os/clock.h"
#include "tests/unit/check.h"

enum { SECONDS = 120, PAIRS = 40 };

struct interval {
	enum cascade_phase phase;
	int begin, end;
};

static const struct cascade_window all = { TIME_MIN_NS, TIME_MAX_NS, false,
	NULL };

static struct cascade cascade;

static void
add(enum cascade_phase phase, const char *key, int begin, int end)
{
	struct record r = {
		.kind = RECORD_PHASE,
		.source = text_of("cascade"),
		.name = text_of(cascade_names[phase].name),
		.node = text_of("n"),
		.key = text_of(key),
		.has_time = true,
		.has_end = true,
		.time_ns = begin * NS_PER_SECOND,
		.end_ns = end * NS_PER_SECOND,
		.duration_ns = (end - begin) * NS_PER_SECOND,
		.has_duration = true,
	};

	cascade_add(&cascade, &r);
}

static enum cascade_part
band_of(enum cascade_phase phase)
{
	switch (phase) {
	case CASCADE_NODEPREP: return PHASES_PREPARATION;
	case CASCADE_SHIPYARD: return PHASES_HELPER;
	case CASCADE_REGISTRY: return PHASES_REGISTRY;
	case CASCADE_GLOBAL: return PHASES_OTHER;
	case CASCADE_PULL: return PHASES_PULL;
	case CASCADE_SAVE: return PHASES_SAVE;
	case CASCADE_LOAD: return PHASES_LOAD;
	case CASCADE_TORRENT: return PHASES_TORRENT;
	default: return PHASES_WAIT;
	}
}

/* The band of each second is the highest of those that are in it. */
static void
slowly(const struct interval *in, int count, int from, int to,
    double seconds[PHASES_PARTS])
{
	for (int t = from; t < to; t++) {
		enum cascade_part best = PHASES_WAIT;

		for (int i = 0; i < count; i++)
			if (in[i].begin <= t && t < in[i].end &&
			    band_of(in[i].phase) > best)
				best = band_of(in[i].phase);
		seconds[best]++;
	}
}

static void
bands_equal_a_count_of_every_second(void **state)
{
	uint64_t random = check_seed();

	for (int round = 0; round < 1000; round++) {
		int from = (int)(check_random(&random) % 20);
		int prep = from + (int)(check_random(&random) % 40);
		int start = from + (int)(check_random(&random) % 60);
		int to = start + (int)(check_random(&random) % 60);
		struct interval in[PAIRS + 2] = {
			{ CASCADE_NODEPREP, from, prep },
			{ CASCADE_GLOBAL, start, to },
		};
		int count = 2;
		double wanted[PHASES_PARTS] = { 0 }, sum = 0;
		struct phases_times times;

		cascade_init(&cascade);
		add(CASCADE_NODEPREP, "", from, prep);
		add(CASCADE_GLOBAL, "", start, to);
		for (int phase = CASCADE_REGISTRY; phase < CASCADE_PHASES;
		     phase++) {
			int many = phase < CASCADE_ONCE
				       ? phase != CASCADE_GLOBAL
				       : (int)(check_random(&random) % 10);

			for (int i = 0; i < many; i++) {
				char key[16];
				int a = (int)(check_random(&random) % SECONDS);
				int b = (int)(check_random(&random) % SECONDS);

				snprintf(key, sizeof(key), "i%d", i);
				add((enum cascade_phase)phase,
				    phase < CASCADE_ONCE ? "" : key, a, b);
				/* What began before the node did is of an
				 * earlier try. */
				if (a < from)
					continue;
				in[count++] = (struct interval){
					(enum cascade_phase)phase, a, b
				};
			}
		}
		cascade_finish(&cascade, &all);
		slowly(in, count, from, to, wanted);
		times = phases_times_of(&cascade, &cascade.nodes[0]);
		for (int i = 0; i < PHASES_PARTS; i++) {
			assert_true(times.seconds[i] == wanted[i]);
			sum += times.seconds[i];
		}
		assert_true(sum == (to > from ? to - from : 0));
		assert_true(times.total == sum);
		cascade_clear(&cascade);
	}
}

/* One line a node up to 60 and beyond to 240; then steps, which are means. */
static void
steps_cover_all_nodes_once(void **state)
{
	static const int counts[] = { 1, 60, 61, 240, 241, 1000 };

	for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
		struct phases_plot *plot;
		char *text = NULL, *line;
		size_t bytes = 0;
		FILE *file = open_memstream(&text, &bytes);
		unsigned first, last, next = 1, lines = 0;
		double total = 0;

		cascade_init(&cascade);
		for (int phase = 0; phase <= CASCADE_GLOBAL; phase += 4)
			for (int i = 0; i < counts[c]; i++) {
				char name[16];
				struct record r = {
					.kind = RECORD_PHASE,
					.source = text_of("cascade"),
					.name =
					    text_of(cascade_names[phase].name),
					.has_time = true,
					.has_end = true,
					.time_ns = phase * NS_PER_SECOND,
					.end_ns =
					    (phase + 1 + i) * NS_PER_SECOND,
					.duration_ns = (1 + i) * NS_PER_SECOND,
					.has_duration = true,
				};

				snprintf(name, sizeof(name), "n%d", i);
				r.node = text_of(name);
				cascade_add(&cascade, &r);
			}
		cascade_finish(&cascade, &all);
		plot = phases_plot_new(&cascade, text_of("pool"));
		bands_table(&plot->bands, file);
		fclose(file);
		line = strchr(text, '\n') + 1;
		for (; *line != '\0'; line = strchr(line, '\n') + 1) {
			const char *end = strchr(line, '\n');
			double mean;

			while (end[-1] != ' ')
				end--;
			mean = atof(end);
			assert_int_equal(
			    sscanf(line, "%u %u", &first, &last), 2);
			assert_int_equal(first, next);
			next = last + 1;
			total += mean * (last - first + 1);
			lines++;
		}
		assert_int_equal(next, counts[c] + 1);
		assert_int_equal(
		    lines, counts[c] > BANDS_STEPS ? BANDS_STEPS : counts[c]);
		/* Each node takes 5 + i seconds. */
		assert_true(
		    total - counts[c] * (4 + (counts[c] + 1) / 2.0) < 0.01);
		free(text);
		phases_plot_free(&plot);
		cascade_clear(&cascade);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bands_equal_a_count_of_every_second),
		cmocka_unit_test(steps_cover_all_nodes_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
