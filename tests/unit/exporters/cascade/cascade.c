/*
 * cascade - how the nodes of a pool got ready: the recorded cases, and what
 * the older tool could not do.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/cascade.h"

#include <unistd.h>

#include "exporters/cascade/plot.h"
#include "tests/unit/exporters/cascade/cascade_events.h"

static const struct cascade_window all = { TIME_MIN_NS, TIME_MAX_NS, false,
	NULL };

static struct cascade cascade;

static void
load(const char *name)
{
	struct cascade_events events;
	char path[256];

	snprintf(
	    path, sizeof(path), "tests/golden/cascade/%s/entities.jsonl", name);
	events = cascade_events_read(path);
	cascade_init(&cascade);
	cascade_events_to(&events, &cascade);
	cascade_finish(&cascade, &all);
	cascade_events_clear(&events);
}

/* A row of the event table; they are kept until load_rows. */
static char rows_path[] = "/tmp/cascade.XXXXXX";
static FILE *rows;

static void
row(const char *node, const char *at, const char *event, const char *message)
{
	if (rows == NULL)
		rows = fopen(rows_path, "w");
	assert_non_null(rows);
	fprintf(rows, "{\"RowKey\":\"%s\",\"Event\":\"%s\",\"NodeId\":\"%s\"",
	    at, event, node);
	if (message != NULL)
		fprintf(rows, ",\"Message\":\"%s\"", message);
	fputs("}\n", rows);
}

static void
usual_rows(const char *node, const char *start)
{
	row(node, start, "nodeprep:start", "offer=O,sku=S");
	row(node, "2030", "nodeprep:end", NULL);
	row(node, "2040", "cascade:start", NULL);
	row(node, "2100", "cascade:gr-done", "nglobalresources=1");
}

static void
load_rows(void)
{
	struct cascade_events events;

	fclose(rows);
	rows = NULL;
	events = cascade_events_read(rows_path);
	cascade_init(&cascade);
	cascade_events_to(&events, &cascade);
	cascade_finish(&cascade, &all);
	cascade_events_clear(&events);
}

static int
make_file(void **state)
{
	int fd = mkstemp(rows_path);

	return fd < 0 || close(fd) != 0;
}

static int
remove_file(void **state)
{
	return unlink(rows_path);
}

static void
assert_file(const char *path, const char *text, size_t bytes)
{
	FILE *file = fopen(path, "r");
	char *wanted = malloc(1 << 20);
	size_t n;

	assert_non_null(file);
	assert_non_null(wanted);
	n = fread(wanted, 1, 1 << 20, file);
	fclose(file);
	if (n != bytes || memcmp(wanted, text, n) != 0)
		fail_msg(
		    "%s is not what comes out:\n%.*s", path, (int)bytes, text);
	free(wanted);
}

static void
every_good_case_gives_the_exact_table_and_script(void **state)
{
	static const struct {
		const char *name, *base, *pool;
	} cases[] = {
		{ "p01_single_node", "mybatchacct-mypool", "mypool" },
		{ "p02_pool8_p2p_private", "mybatchacct-gpupool", "gpupool" },
		{ "p03_pool5_direct_units", "mybatchacct-pool-direct",
		    "pool-direct" },
		{ "p05_native_no_shipyard_pull", "mybatchacct-mypool",
		    "mypool" },
		{ "p06_rowkey_collisions", "mybatchacct-collide", "collide" },
		{ "p07_pool60_p2p", "prodacct-render-60", "render-60" },
		{ "p10_torrent_without_load", "mybatchacct-mypool", "mypool" },
		{ "p11_small_numbers", "mybatchacct-mypool", "mypool" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char path[256], dat[128], *text = NULL;
		size_t bytes = 0;
		FILE *file = open_memstream(&text, &bytes);

		load(cases[i].name);
		cascade_plot_dat(&cascade, file);
		fclose(file);
		snprintf(path, sizeof(path),
		    "tests/golden/cascade/%s/expected/%s.dat", cases[i].name,
		    cases[i].base);
		assert_file(path, text, bytes);
		free(text);
		file = open_memstream(&text, &bytes);
		snprintf(dat, sizeof(dat), "%s.dat", cases[i].base);
		cascade_plot_script(
		    &cascade, file, text_of(cases[i].pool), dat, GNUPLOT_PNG);
		fclose(file);
		snprintf(path, sizeof(path),
		    "tests/golden/cascade/%s/expected/%s.plot", cases[i].name,
		    cases[i].base);
		assert_file(path, text, bytes);
		free(text);
		cascade_clear(&cascade);
	}
}

static void
assert_missing(uint32_t node, const char *wanted)
{
	char words[512];

	assert_string_equal(cascade_missing_words(&cascade,
				&cascade.nodes[node], words, sizeof(words)),
	    wanted);
}

static void
an_incomplete_node_spoils_only_itself(void **state)
{
	double seconds;
	bool absent;

	load("p08_error_missing_gr_done");
	assert_int_equal(cascade.node_count, 2);
	assert_int_equal(cascade.complete, 1);
	assert_missing(0, "");
	assert_missing(1, "cascade:gr-done");
	assert_false(
	    cascade_once(&cascade.nodes[1], CASCADE_GLOBAL, &seconds, &absent));
	assert_true(cascade_once(
	    &cascade.nodes[1], CASCADE_NODEPREP, &seconds, &absent));
	assert_true(seconds == 30.0);
	assert_true(cascade.total_global == 50.0);
	cascade_clear(&cascade);
	load("p04_error_missing_pull_end");
	assert_int_equal(cascade.complete, 0);
	assert_missing(0, "cascade:pull-start:redis:3");
	assert_true(cascade_images_total(
			&cascade, &cascade.nodes[0], CASCADE_PULL) == 5.9);
	cascade_clear(&cascade);
}

static void
nodes_may_start_together(void **state)
{
	int64_t a, b;

	load("p09_error_same_start");
	assert_int_equal(cascade.complete, 2);
	assert_true(cascade_start_us(&cascade.nodes[0], &a));
	assert_true(cascade_start_us(&cascade.nodes[1], &b));
	assert_int_equal(a, b);
	assert_true(text_equal(cascade.nodes[0].name, text_of("tvm-3_1")));
	cascade_clear(&cascade);
}

static void
repeated_pulls_of_an_image_add_up(void **state)
{
	uint32_t count;
	const struct cascade_pair *p;

	usual_rows("n", "2000");
	row("n", "2041", "cascade:pull-start", "img=a");
	row("n", "2042", "cascade:pull-start", "img=b");
	row("n", "2050", "cascade:pull-end", "img=a,diff=8.5");
	row("n", "2060", "cascade:pull-end", "img=b");
	row("n", "2070", "cascade:pull-start", "img=a");
	row("n", "2071.25", "cascade:pull-end", "img=a");
	load_rows();
	p = cascade_run(&cascade, &cascade.nodes[0], CASCADE_PULL, &count);
	assert_int_equal(count, 3);
	assert_true(p[0].seconds == 9.75 && !p[0].repeated);
	assert_true(p[1].seconds == 18 && !p[1].repeated);
	assert_true(p[2].repeated);
	assert_true(cascade_images_total(
			&cascade, &cascade.nodes[0], CASCADE_PULL) == 27.75);
	cascade_clear(&cascade);
}

static void
an_end_without_a_start_is_noted_and_counts_nowhere(void **state)
{
	usual_rows("n", "2000");
	row("n", "2060", "cascade:pull-end", "img=b,diff=7");
	row("n", "2061", "cascade:torrent-start", "img=b");
	load_rows();
	assert_int_equal(cascade.complete, 1);
	assert_int_equal(cascade.nodes[0].unmatched, 1);
	assert_missing(0, "cascade:pull-end:b");
	assert_true(cascade_acquisition(&cascade, &cascade.nodes[0]) == 0);
	cascade_clear(&cascade);
}

static void
the_first_node_names_offer_and_sku(void **state)
{
	usual_rows("late", "2001");
	row("early", "1999.999999999", "nodeprep:start", "offer=X,sku=Y");
	row("none", "2002", "cascade:start", NULL);
	load_rows();
	assert_true(text_equal(cascade.offer, text_of("X")));
	assert_true(text_equal(cascade.sku, text_of("Y")));
	assert_true(text_equal(cascade.nodes[0].name, text_of("early")));
	assert_true(text_equal(cascade.nodes[2].name, text_of("none")));
	assert_missing(0, "nodeprep:end cascade:start cascade:gr-done");
	assert_missing(2, "nodeprep:start nodeprep:end cascade:gr-done");
	cascade_clear(&cascade);
}

static void
sizes_come_from_the_first_event_that_has_one(void **state)
{
	usual_rows("n", "2000");
	row("n", "2041", "cascade:pull-start", "img=a");
	row("n", "2050", "cascade:pull-end", "img=a,diff=8.5,size=ago 188MB");
	row("n", "2051", "cascade:save-start", "img=a");
	row("n", "2052", "cascade:save-end", "img=a,size=77");
	row("n", "2053", "cascade:load-start", "img=b,size=99");
	row("n", "2054", "cascade:load-end", "img=b");
	row("n", "2055", "cascade:pull-start", "img=c");
	row("n", "2056", "cascade:pull-end", "img=c,size=12 furlongs");
	load_rows();
	assert_int_equal(cascade.images.count, 3);
	assert_int_equal(cascade.image_bytes[0], 188000000);
	assert_int_equal(cascade.image_bytes[1], 99);
	assert_true(cascade.image_bytes[2] == CASCADE_NO_SIZE); /* c */
	assert_int_equal(cascade.unread_sizes, 1);
	cascade_clear(&cascade);
}

static void
names_and_titles_cannot_break_the_files(void **state)
{
	char text[8192] = "";
	FILE *file = fmemopen(text, sizeof(text), "w");

	usual_rows("a b#%", "2000");
	load_rows();
	cascade_plot_dat(&cascade, file);
	cascade_plot_script(&cascade, file, text_of("p`id`\\\"'$(id)"),
	    "<rm -rf.dat", GNUPLOT_PNG);
	fclose(file);
	assert_non_null(strstr(text, " a%20b%23%25 30.0 0 0 60.0 "));
	assert_non_null(
	    strstr(text, "\nset title \"Shipyard Performance for "
			 "p\\140id\\140\\134\\042\\047\\044(id) (O S)\" "
			 "noenhanced font \", 10\" \n"));
	assert_non_null(strstr(text, "\nplot \"./\\074rm -rf.dat\" using 1:"));
	cascade_clear(&cascade);
}

static void
add_pull(const char *image, const char *node, int begin, int end)
{
	struct record record = {
		.kind = RECORD_PHASE,
		.source = text_of("cascade"),
		.name = text_of("pull"),
		.key = text_of(image),
		.node = text_of(node),
		.has_time = true,
		.has_end = true,
		.time_ns = begin * NS_PER_SECOND,
		.end_ns = end * NS_PER_SECOND,
		.duration_ns = (end - begin) * NS_PER_SECOND,
		.has_duration = true,
	};

	cascade_add(&cascade, &record);
}

static void
assert_pulls(uint32_t node, const int *begins, const double *seconds,
    const bool *repeated, uint32_t want)
{
	const struct cascade_pair *pair;
	uint32_t count, i;

	pair =
	    cascade_run(&cascade, &cascade.nodes[node], CASCADE_PULL, &count);
	assert_int_equal(count, want);
	for (i = 0; i < count; i++) {
		assert_true(pair[i].begin_ns == begins[i] * NS_PER_SECOND);
		assert_true(pair[i].seconds == seconds[i]);
		assert_int_equal(pair[i].repeated, repeated[i]);
	}
}

/* Images come one after another, with all their nodes. */
static void
pairs_of_a_node_are_brought_together(void **state)
{
	cascade_init(&cascade);
	add_pull("x", "a", 5, 8);
	add_pull("x", "b", 1, 2);
	add_pull("x", "b", 6, 9);
	add_pull("y", "a", 2, 4);
	add_pull("y", "a", 7, 8);
	add_pull("y", "c", 3, 4);
	add_pull("z", "b", 4, 5);
	cascade_finish(&cascade, &all);
	assert_int_equal(cascade.node_count, 3);
	assert_pulls(0, (int[]){ 2, 5, 7 }, (double[]){ 3, 3, 1 },
	    (bool[]){ false, false, true }, 3);
	assert_pulls(1, (int[]){ 1, 4, 6 }, (double[]){ 4, 1, 3 },
	    (bool[]){ false, false, true }, 3);
	assert_pulls(2, (int[]){ 3 }, (double[]){ 1 }, (bool[]){ false }, 1);
	cascade_clear(&cascade);
}

/* Random nanoseconds, also before 1970, against Python's datetime. */
static void
microseconds_are_rounded_as_python_rounds_them(void **state)
{
	uint64_t random = check_seed();
	char path[] = "/tmp/us.XXXXXX", command[640];
	FILE *file = fdopen(mkstemp(path), "w");

	assert_non_null(file);
	for (int i = 0; i < 20000; i++) {
		int64_t ns = (int64_t)(check_random(&random) %
				       UINT64_C(4000000000000000000)) -
			     INT64_C(300000000000000000);

		if (i % 4 == 0)
			ns -= ns % 1000; /* what is recorded mostly */
		if (i % 4 == 1)
			ns -= ns % 500;
		fprintf(file, "%lld %lld ", (long long)ns,
		    (long long)cascade_us(ns));
		fprintf(file, "%.17g\n", cascade_seconds(cascade_us(ns)));
	}
	fclose(file);
	snprintf(command, sizeof(command),
	    "TZ=UTC python3 -c 'import sys\n"
	    "from datetime import datetime as D, timedelta as T\n"
	    "z=D(1970,1,1)\n"
	    "for l in open(sys.argv[1]):\n"
	    " n,u,s=l.split();n=int(n);a=abs(n);g=\"-\" if n<0 else \"\"\n"
	    " d=D.fromtimestamp(float(\"%%s%%d.%%09d\"%%"
	    "(g,a//10**9,a%%10**9)))\n"
	    " assert (d-z)//T(microseconds=1)==int(u),(n,u)\n"
	    " assert d.timestamp()==float(s),(n,s)' %s",
	    path);
	assert_int_equal(system(command), 0);
	unlink(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    every_good_case_gives_the_exact_table_and_script),
		cmocka_unit_test(an_incomplete_node_spoils_only_itself),
		cmocka_unit_test(nodes_may_start_together),
		cmocka_unit_test(repeated_pulls_of_an_image_add_up),
		cmocka_unit_test(
		    an_end_without_a_start_is_noted_and_counts_nowhere),
		cmocka_unit_test(the_first_node_names_offer_and_sku),
		cmocka_unit_test(sizes_come_from_the_first_event_that_has_one),
		cmocka_unit_test(names_and_titles_cannot_break_the_files),
		cmocka_unit_test(pairs_of_a_node_are_brought_together),
		cmocka_unit_test(
		    microseconds_are_rounded_as_python_rounds_them),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
