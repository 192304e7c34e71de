/*
 * two_sources - one process reads two stores, each with options of its own.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/time_window.h"
#include "exporters/source/pool.h"
#include "tests/unit/exporters/samples/sampled.h"

enum { SAMPLES = 3000, OTHERS = 1700 }; /* several pages of each */

/* A store with `count` samples of `node`; its folder stays. */
static void
make_store(const char *node, int count, char to[static sizeof(rig.folder)])
{
	set_up(NULL);
	define_group("level", "one", "1", "g");
	for (int i = 0; i < count; i++)
		put_sample(node, "level", i, 1, (int64_t[]){ i });
	rig_send(&rig, 0);
	rig_indexer(&rig);
	writer_close(&rig.writer);
	journal_close(&rig.journal);
	memcpy(to, rig.folder, sizeof(rig.folder));
}

static void
remove_store(const char *folder)
{
	assert_int_equal(nftw(folder, rig_remove, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static struct source *
open_store_of(const struct source_options *options)
{
	struct source *opened;
	struct err err = { 0 };

	rig_good(source_open(&opened, options, &err), &err);
	return opened;
}

/* The next record is the i-th sample of that node. */
static void
next_is(struct source *from, const char *node, int i)
{
	struct record record;
	struct err err = { 0 };

	assert_int_equal(source_next(from, &record, &err), 1);
	assert_true(text_equal(record.node, text_of(node)));
	assert_int_equal(record.time_ns, RIG_T0 + i * NS_PER_SECOND);
}

static void
two_stores_are_read_at_once_each_as_its_options_say(void **state)
{
	char folders[2][sizeof(rig.folder)];
	struct source_options options[2] = { { .clock = CLOCK_RAW },
		{ .clock = CLOCK_AUTO } };
	struct wire_query query = source_query(1u << RECORD_SAMPLE);
	struct source *sources[2];
	struct record record;
	struct err err = { 0 };

	make_store("left", SAMPLES, folders[0]);
	make_store("right", OTHERS, folders[1]);
	for (int i = 0; i < 2; i++) {
		options[i].store = folders[i];
		sources[i] = open_store_of(&options[i]);
		rig_good(source_select(sources[i], SOURCE_RECORDS,
			     text_of(RIG_PARTITION), &query, &err),
		    &err);
	}
	/* The one's default changes nothing of the other. */
	source_default_clock(&options[0], CLOCK_CORRECTED);
	assert_int_equal(options[1].clock, CLOCK_AUTO);
	assert_int_equal(source_clock(sources[0])->choice, CLOCK_RAW);
	assert_int_equal(source_clock(sources[1])->choice, CLOCK_AUTO);
	assert_string_equal(source_name(sources[0]), folders[0]);
	assert_string_equal(source_name(sources[1]), folders[1]);
	for (int i = 0; i < SAMPLES; i++) {
		next_is(sources[0], "left", i);
		if (i < OTHERS)
			next_is(sources[1], "right", i);
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(source_next(sources[i], &record, &err), 0);
		source_close(&sources[i]);
		remove_store(folders[i]);
	}
}

/* The same tables, bound twice: as one program that compares two pools would
 * have them. */
static void
options_are_parsed_into_two_values(void **state)
{
	struct source_options left = { 0 }, right = { 0 };
	struct time_window_options window = TIME_WINDOW_ALL;
	struct pool_options pool = { 0 };
	const struct opt_table tables[] = { { source_options, &left },
		{ time_window_options, &window }, { pool_options, &pool },
		{ opt_common, NULL }, { NULL, NULL } };
	const struct opt_table others[] = { { source_options, &right },
		{ opt_common, NULL }, { NULL, NULL } };
	struct opt_program program = { .name = "poolscope-dump",
		.synopsis = "",
		.summary = "",
		.tables = tables };
	char name[] = "x", store[] = "--store=a", node[] = "--node=n*",
	     files[] = "--pool=p.json", raw[] = "--clock=raw";
	char *argv[] = { name, store, node, files, raw, NULL };
	char other[] = "--store=b", key[] = "--key=k";
	char *other_argv[] = { name, other, key, NULL };

	opt_common_values.dir = "/nonexistent";
	opt_parse(&program, 5, argv, NULL);
	assert_int_equal(opt_origin_of(&left.store), OPT_COMMAND_LINE);
	assert_int_equal(opt_origin_of(&pool.files[2]), OPT_COMMAND_LINE);
	assert_int_equal(opt_origin_of(&left.connect), OPT_DEFAULT);
	program.tables = others;
	opt_parse(&program, 3, other_argv, NULL);
	assert_int_equal(opt_origin_of(&right.store), OPT_COMMAND_LINE);
	assert_string_equal(left.store, "a");
	node_option_check(&window.node);
	assert_string_equal(window.node.list, "n*");
	assert_true(window.to_ns == TIME_MAX_NS);
	assert_string_equal(pool.files[2], "p.json");
	assert_int_equal(left.clock, CLOCK_RAW);
	assert_null(left.key.key);
	assert_string_equal(right.store, "b");
	assert_string_equal(right.key.key, "k");
	assert_int_equal(right.clock, CLOCK_AUTO);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    two_stores_are_read_at_once_each_as_its_options_say),
		cmocka_unit_test(options_are_parsed_into_two_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
