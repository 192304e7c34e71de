/*
 * poolscope-generate - makes up data for demos and benchmarks.
 *
 * Writes files, or publishes as poolscope-import does: exit status 0 means that
 * the aggregator has every row on its disk.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/delivery/uplink_loop.h"
#include "agents/generate/plant_rows.h"
#include "agents/generate/pool.h"
#include "agents/generate/results.h"
#include "agents/generate/testrun_files.h"
#include "agents/generate/testrun_rows.h"
#include "agents/import/formats/testrun.h"
#include "agents/import/send.h"
#include "proto/base/memory.h"
#include "proto/auth/client_key.h"
#include "proto/config/instance.h"
#include "proto/config/opt.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/os/progress.h"

struct options {
	uint64_t runs, seed, spacing_s, first, files, entries, tests;
	uint64_t nodes, starts;
	int64_t period_ns;
	const char *base, *output, *partition, *node;
	char name[INSTANCE_PATH_BYTES]; /* of the checked partition */
	struct opt_list broker, cause;
	struct client_key_values key;
	int64_t timeout_ns;
};

static const struct options defaults = { .seed = 405,
	.entries = 20,
	.tests = 1,
	.spacing_s = 100,
	.starts = 1,
	.period_ns = 10 * NS_PER_SECOND,
	.timeout_ns = 60 * NS_PER_SECOND };

static const struct opt table[] = {
	{ "runs", 0, OPT_COUNT, OPT_TO(struct options, runs), "N",
	    "testrun: generate this many test runs" },
	{ "files", 0, OPT_COUNT, OPT_TO(struct options, files), "N",
	    "results: generate this many files" },
	{ "entries", 0, OPT_COUNT, OPT_TO(struct options, entries), "N",
	    "results: write this many timings to each file (default: 20)" },
	{ "tests", 0, OPT_COUNT, OPT_TO(struct options, tests), "N",
	    "results: alternate between this many benchmarks (default: 1)" },
	{ "nodes", 0, OPT_COUNT, OPT_TO(struct options, nodes), "N",
	    "pool: generate this many nodes" },
	{ "starts", 0, OPT_COUNT, OPT_TO(struct options, starts), "N",
	    "pool: it starts this often, half an hour apart (default: 1)" },
	{ "period", 0, OPT_DURATION, OPT_TO(struct options, period_ns),
	    "DURATION", "pool: sample each node this often (default: 10s)" },
	{ "cause", 0, OPT_LIST, OPT_TO(struct options, cause),
	    "KIND:NODE:FACTOR",
	    "pool: slow this node down, for a reason: clock, late, places, "
	    "size, memory, steal, cpu, disk, errors, network or hidden; none: "
	    "slow none; may be repeated" },
	{ "seed", 0, OPT_COUNT, OPT_TO(struct options, seed), "S",
	    "set the seed of the random times (default: 405)" },
	{ "spacing", 0, OPT_COUNT, OPT_TO(struct options, spacing_s), "SECONDS",
	    "set the time between two runs, or two rounds of the tests "
	    "(default: 100)" },
	{ "first", 0, OPT_COUNT, OPT_TO(struct options, first), "I",
	    "testrun: set the id of the first run; the others have the next "
	    "numbers (default: 0)" },
	{ "base", 0, OPT_TEXT, OPT_TO(struct options, base), "TIME",
	    "begin at this time; now: end now (default: 0, of a pool now)" },
	{ "output", 'o', OPT_TEXT, OPT_TO(struct options, output), "DIR",
	    "write files to this directory" },
	{ "partition", 'p', OPT_TEXT, OPT_TO(struct options, partition), "NAME",
	    "publish in this partition, account$pool" },
	{ "node", 'n', OPT_TEXT, OPT_TO(struct options, node), "NAME",
	    "testrun: publish the events for this node (default: testrun)" },
	{ "broker", 0, OPT_LIST, OPT_TO(struct options, broker), "ENDPOINT",
	    "send to this broker (default: ipc://DIR/run/broker.ipc); repeat "
	    "for failover, in order" },
	{ "key", 0, OPT_TEXT, OPT_TO(struct options, key.key), "FILE",
	    "use this key for a TCP broker (default: DIR/keys/agent.key)" },
	{ "insecure", 0, OPT_FLAG, OPT_TO(struct options, key.insecure), NULL,
	    "connect to a TCP broker without a key, unencrypted" },
	{ "timeout", 0, OPT_DURATION, OPT_TO(struct options, timeout_ns),
	    "DURATION",
	    "fail after this long without progress (default: 60s)" },
	{ 0 },
};

static const struct opt_topic topics[] = {
	{ "pool", "",
	    "starts of a pool, with samples and jobs: write a file, or publish "
	    "them",
	    "nodes starts period cause seed base output partition broker key "
	    "insecure timeout",
	    "poolscope generate pool --nodes 60 -p 'demo$pool'\n"
	    "poolscope generate pool --nodes 60 --cause disk:17:3 -p "
	    "'demo$slow'\n" },
	{ "testrun", "", "test runs of a farm: write files, or publish them",
	    "runs seed spacing first base output partition node broker key "
	    "insecure timeout",
	    "poolscope generate testrun --runs 60 -p 'demo$farm'\n"
	    "poolscope generate testrun --runs 60 -o runs\n" },
	{ "results", "", "files of benchmark results",
	    "files entries tests seed spacing base output",
	    "poolscope generate results --files 96 -o results\n" },
	{ .word = NULL },
};

static const struct opt *
find_option(const char *name)
{
	const struct opt *o = table;

	while (strcmp(o->name, name) != 0)
		o++;
	return o;
}

static bool
is_given(const char *name)
{
	return opt_origin(find_option(name)) == OPT_COMMAND_LINE;
}

/* A partition from the environment does not exclude -o. */
static void
check_destination(struct options *options)
{
	struct err err = { 0 };

	if (options->output != NULL && options->partition != NULL) {
		if (opt_origin(find_option("output")) ==
		    opt_origin(find_option("partition")))
			opt_usage("-o and -p exclude each other: write files, "
				  "or publish");
		if (opt_origin(find_option("output")) <
		    opt_origin(find_option("partition")))
			options->output = NULL;
	}
	if (options->output == NULL && options->partition == NULL)
		opt_usage("missing option: -o DIR or -p NAME");
	if (options->output == NULL) {
		if (instance_read_partition(
			options->name, options->partition, &err) != 0)
			opt_usage("%s", err.text);
		options->partition = options->name;
	}
	if (options->timeout_ns <= 0)
		opt_usage("--timeout must be greater than 0");
	if (broker_link_check(&options->broker, &err) != 0)
		opt_usage("--broker: %s", err.text);
}

/* How many to generate. */
static void
check_range(const char *name, uint64_t value, uint64_t most)
{
	if (value == 0)
		opt_usage(is_given(name) ? "--%s must be greater than 0"
					 : "--%s is missing",
		    name);
	if (value > most)
		opt_usage("--%s must be at most %" PRIu64, name, most);
}

/* Usage errors that the option table cannot detect. */
static void
check_usage(struct options *options, const char *what)
{
	if (strcmp(what, "pool") == 0) {
		check_range("nodes", options->nodes, GENERATE_POOL_NODES_MAX);
		check_range(
		    "starts", options->starts, GENERATE_POOL_STARTS_MAX);
		if (options->period_ns < NS_PER_SECOND ||
		    options->period_ns > GENERATE_POOL_START_S * NS_PER_SECOND)
			opt_usage("--period must be from 1s to %ds",
			    GENERATE_POOL_START_S);
		check_destination(options);
		return;
	}
	if (strcmp(what, "testrun") == 0) {
		check_range("runs", options->runs, UINT64_MAX);
		check_destination(options);
		return;
	}
	check_range("files", options->files, UINT64_MAX);
	if (options->tests == 0 || options->spacing_s == 0)
		opt_usage("--%s must be greater than 0",
		    options->tests == 0 ? "tests" : "spacing");
	if (options->entries == 0 || options->entries > GENERATE_ENTRIES_MAX)
		opt_usage(
		    "--entries must be from 1 to %d", GENERATE_ENTRIES_MAX);
	if (options->output == NULL)
		opt_usage("missing option: -o DIR");
}

/* --base in seconds; false: the last run ends now. */
static bool
get_base(const struct options *options, const char *standard, int64_t now_ns,
    int64_t *base_s)
{
	const char *base = options->base != NULL ? options->base : standard;
	int64_t base_ns;
	struct err err = { 0 };

	*base_s = 0;
	if (strcmp(base, "now") == 0)
		return false;
	if (clock_parse_time(text_of(base), now_ns, &base_ns, &err) != 0)
		opt_usage("--base: %s", err.text);
	base_ns -= (base_ns % NS_PER_SECOND + NS_PER_SECOND) % NS_PER_SECOND;
	*base_s = base_ns / NS_PER_SECOND;
	return true;
}

/* The runs that the options describe. */
static void
get_runs(const struct options *options, struct generate_runs *runs)
{
	int64_t now_ns = clock_wall_ns();
	struct err err = { 0 };
	int rc = 0;

	*runs = (struct generate_runs){ .seed = options->seed,
		.runs = options->runs,
		.spacing_s = options->spacing_s,
		.first = options->first };
	if (!get_base(options, "0", now_ns, &runs->base_s))
		rc = generate_runs_base(runs, now_ns / NS_PER_SECOND, &err);
	if (rc != 0 || generate_runs_begin(runs, &err) != 0)
		opt_usage("%s", err.text);
}

/* The results that the options describe. */
static void
get_results(const struct options *options, struct generate_results *results)
{
	int64_t now_ns = clock_wall_ns();
	struct err err = { 0 };
	int rc = 0;

	*results = (struct generate_results){ .seed = options->seed,
		.files = options->files,
		.entries = options->entries,
		.tests = options->tests,
		.spacing_s = options->spacing_s };
	if (!get_base(options, "0", now_ns, &results->base_s))
		rc = generate_results_base(
		    results, now_ns / NS_PER_SECOND, &err);
	if (rc != 0 || generate_results_check(results, &err) != 0)
		opt_usage("%s", err.text);
}

/* The pool that the options describe. */
static void
get_pool(const struct options *options, struct generate_pool *pool)
{
	int64_t now_ns = clock_wall_ns(), base_s;
	struct err err = { 0 };

	*pool = (struct generate_pool){ .seed = options->seed,
		.nodes = options->nodes,
		.starts = options->starts,
		.period_ns = options->period_ns };
	if (!get_base(options, "now", now_ns, &base_s))
		base_s = now_ns / NS_PER_SECOND - generate_pool_length_s(pool);
	pool->base_ns = base_s * NS_PER_SECOND;
	if (generate_pool_begin(pool, &err) != 0)
		opt_usage("%s", err.text);
}

/* The pool with planted causes that the options describe. */
static void
get_plant(const struct options *options, struct generate_plant_rows *rows)
{
	int64_t now_ns = clock_wall_ns(), base_s;
	struct err err = { 0 };
	bool is_now;

	*rows = (struct generate_plant_rows){
		.plant = { .seed = options->seed,
		    .nodes = options->nodes,
		    .causes = options->cause.count },
		.starts = options->starts,
		.period_ns =
		    is_given("period") ? options->period_ns : NS_PER_SECOND,
	};
	for (uint32_t i = 0; i < options->cause.count; i++)
		if (generate_cause_parse(&rows->plant.cause[i],
			text_of(options->cause.at[i]), &err) != 0)
			opt_usage(
			    "--cause %s: %s", options->cause.at[i], err.text);
	is_now = !get_base(options, "now", now_ns, &base_s);
	if (is_now)
		base_s =
		    now_ns / NS_PER_SECOND - generate_plant_rows_length_s(rows);
	rows->base_ns = base_s * NS_PER_SECOND;
	if (generate_plant_rows_open(rows, &err) != 0)
		opt_usage("%s", err.text);
	if (!is_now)
		return;
	/* The same at another time: it says only now how long it takes. */
	base_s += (now_ns - generate_plant_rows_end_ns(rows)) / NS_PER_SECOND;
	generate_plant_rows_close(rows);
	rows->base_ns = base_s * NS_PER_SECOND;
	if (generate_plant_rows_open(rows, &err) != 0)
		opt_usage("%s", err.text);
}

/* `node`: the one that sends; `is_pool`: its nodes are heard by it. */
static int
publish(const struct options *options, const struct import_source *source,
    const char *node, bool is_pool, bool progress, struct err *err)
{
	const struct import_options how = {
		.partition = text_of(options->partition),
		.node = text_of(node),
		.timeout_ns = options->timeout_ns,
		.is_made_up = is_pool,
		.progress = progress,
	};
	struct import_result result = { 0, 0, 0 };
	struct uplink_loop uplink;
	int rc;

	rc = uplink_loop_open(&uplink, &options->broker, &options->key, err);
	if (rc == 0)
		rc = import_send(source, &how, &uplink, &result, err);
	uplink_loop_close(&uplink);
	if (rc == 0 && !opt_common_values.quiet)
		printf("%" PRIu64 " row%s, %" PRIu64 " already there\n",
		    result.events, result.events == 1 ? "" : "s",
		    result.already);
	return rc;
}

static void
get_node(const struct options *options, char node[static INSTANCE_PATH_BYTES])
{
	struct err err = { 0 };
	const char *why;

	if (instance_node(node, options->node, &why, &err) != 0)
		opt_usage("%s", err.text);
}

static int
make_plant(const struct options *options, bool progress, struct err *err)
{
	char node[INSTANCE_PATH_BYTES];
	struct generate_plant_rows *rows = memory_zero(1, sizeof(*rows));
	struct import_source source;
	int rc;

	get_plant(options, rows);
	source = generate_plant_rows_source(rows);
	if (options->output != NULL) {
		rc = generate_row_file(
		    &source, text_of("generated$pool"), options->output, err);
		if (rc == 0)
			rc = generate_plant_rows_truth(
			    rows, options->output, err);
	} else {
		get_node(options, node);
		rc = publish(options, &source, node, true, progress, err);
	}
	generate_plant_rows_close(rows);
	free(rows);
	return rc;
}

static int
make_pool(const struct options *options, bool progress, struct err *err)
{
	char node[INSTANCE_PATH_BYTES];
	struct import_source source;
	struct generate_pool pool;

	if (options->cause.count > 0)
		return make_plant(options, progress, err);
	get_pool(options, &pool);
	source = generate_pool_source(&pool);
	if (options->output != NULL)
		return generate_row_file(
		    &source, text_of("generated$pool"), options->output, err);
	get_node(options, node);
	return publish(options, &source, node, true, progress, err);
}

static int
make_runs(const struct options *options, bool progress, struct err *err)
{
	char node[INSTANCE_PATH_BYTES];
	struct import_source source;
	struct generate_runs runs;
	struct generate_rows rows;

	get_runs(options, &runs);
	if (options->output != NULL)
		return generate_files(&runs, options->output, progress, err);
	get_node(options, node);
	if (generate_rows_open(&rows, &runs,
		text_of(options->node != NULL ? node : IMPORT_TESTRUN_NODE),
		err) != 0)
		return -1;
	source = generate_rows_source(&rows);
	return publish(options, &source,
	    options->node != NULL ? node : IMPORT_TESTRUN_NODE, false, progress,
	    err);
}

static int
make_results(const struct options *options, bool progress, struct err *err)
{
	struct generate_results results;

	get_results(options, &results);
	return generate_results(&results, options->output, progress, err);
}

static void
parse(struct options *options, int argc, char **argv,
    struct opt_operands *operands)
{
	const struct opt_table tables[] = { { table, options },
		{ opt_common, NULL }, { NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-generate",
		.synopsis = "WHAT [options]",
		.summary = "make up data for demos and benchmarks; WHAT is one "
			   "of",
		.examples =
		    "poolscope generate pool --nodes 60 -p 'demo$pool'\n"
		    "poolscope generate testrun --runs 60 -p 'demo$farm'\n"
		    "poolscope generate results --files 96 -o results\n",
		.tables = tables,
		.topics = topics,
	};

	opt_parse(&program, argc, argv, operands);
}

int
main(int argc, char **argv)
{
	struct options options = defaults;
	struct opt_operands operands;
	struct err err = { 0 };
	bool progress;
	int rc;

	parse(&options, argc, argv, &operands);
	check_usage(&options, operands.at[0]);
	progress = !opt_common_values.quiet && progress_is_wanted();
	if (strcmp(operands.at[0], "pool") == 0)
		rc = make_pool(&options, progress, &err);
	else if (strcmp(operands.at[0], "results") == 0)
		rc = make_results(&options, progress, &err);
	else
		rc = make_runs(&options, progress, &err);
	if (rc == 0)
		return EXIT_SUCCESS;
	return log_fail(&err);
}
