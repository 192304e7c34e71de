/*
 * poolscope-upload - upload results, files, records and metrics to other
 * services.  poolscope-upload(1).
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/source/known.h"
#include "exporters/source/select_options.h"
#include "exporters/source/source.h"
#include "exporters/upload/metrics.h"
#include "exporters/upload/records.h"
#include "exporters/upload/upload.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/os/progress.h"
#include "proto/service/interrupt.h"

#include <sodium.h>

enum { ASK_EVERY = 1024, NAME_DIGITS = 32 };

/* ---- one upload ---- */

/* The name identifies the records: it is made of their identities and their
 * times as shown. */
struct naming {
	crypto_generichash_state state;
};

static void
naming_begin(struct naming *naming)
{
	crypto_generichash_init(&naming->state, NULL, 0, NAME_DIGITS / 2);
}

static void
naming_add(struct naming *naming, const struct record *record)
{
	unsigned char bytes[40];

	memcpy(bytes, record->id.session.bytes, 16);
	memcpy(bytes + 16, &record->id.seq, 8);
	memcpy(bytes + 24, &record->time_ns, 8);
	memcpy(bytes + 32, &record->id.index, 4);
	memset(bytes + 36, 0, 4);
	crypto_generichash_update(&naming->state, bytes, sizeof(bytes));
}

static int
flush(struct upload_records *rows, struct naming *naming, struct err *err)
{
	unsigned char hash[NAME_DIGITS / 2];
	char name[NAME_DIGITS + 1];

	crypto_generichash_final(&naming->state, hash, sizeof(hash));
	sodium_bin2hex(name, sizeof(name), hash, sizeof(hash));
	naming_begin(naming);
	return upload_records_flush(rows, name, err);
}

static int
send_once(struct upload_records *rows, struct err *err)
{
	struct wire_query query = upload_records_query(rows);
	struct naming naming;
	struct record record;
	uint64_t read = 0;
	int rc;

	query.name = rows->pattern;
	if (source_select(rows->source, SOURCE_RECORDS,
		text_of(rows->partition), &query, err) != 0)
		return -1;
	naming_begin(&naming);
	while ((rc = source_next(rows->source, &record, err)) > 0) {
		uint64_t before = rows->added;

		if (read++ % ASK_EVERY == 0 && interrupt_is_pending())
			return err_set_code(
			    err, ERR_INTERRUPTED, "interrupted");
		rc = upload_records_add(rows, &record, err);
		if (rc == 0) {
			if (flush(rows, &naming, err) != 0)
				return -1;
			before = 0;
			rc = upload_records_add(rows, &record, err);
		}
		if (rc < 0)
			return -1;
		if (rows->added > before)
			naming_add(&naming, &record);
	}
	return rc < 0 ? -1 : flush(rows, &naming, err);
}

/* ---- the commands ---- */

static int
open_target(struct upload_records *rows, const char *to, struct err *err)
{
	char display[HTTP_DISPLAY_URL_BYTES];
	const char *rest;

	rows->to = to;
	rows->type = target_find(to, rows->use, &rest, err);
	if (rows->type == NULL)
		return -1;
	snprintf(rows->display, sizeof(rows->display), "%s:%s",
	    rows->type->scheme, http_display_url(display, rest));
	return rows->type->open(&rows->target, rest, &rows->upload->http, err);
}

/* Nothing happened, or a name was mistyped: which one may have been meant? */
static void
report_none(struct upload_records *rows)
{
	struct wire_query query = upload_records_query(rows);
	struct text partition = text_of(rows->partition);
	struct err why;

	if (known_check_partition(rows->source, partition, 0, &why) != 0) {
		log_warn("no %s: %s", rows->word, why.text);
		return;
	}
	err_set(&why, "%s", source_name(rows->source));
	known_suggest(rows->source, SOURCE_RECORDS, partition, &query,
	    rows->upload->records.name, &why);
	log_warn("no matching %s of partition %s in %s", rows->word,
	    rows->partition, why.text);
}

static void
report_end(struct upload_records *rows)
{
	if (!opt_common_values.quiet && progress_is_wanted() &&
	    rows->shown_ns != 0)
		progress_clear();
	if (rows->nameless > 0)
		log_warn("%" PRIu64
			 " samples have values without a name in their metric "
			 "group; they are named value_0, value_1 ...",
		    rows->nameless);
	if (rows->left_out > 0)
		log_error("%" PRIu64 " %s were left out: %s refuses them for "
			  "good",
		    rows->left_out, rows->word, rows->display);
	if (opt_common_values.quiet)
		return;
	if (rows->sent + rows->left_out == 0 && !rows->upload->records.follow)
		report_none(rows);
	else if (!rows->upload->http.dry_run)
		log_info("%" PRIu64 " %s sent to %s", rows->sent, rows->word,
		    rows->display);
}

static int
send_to(struct upload_records *rows, const char *to, struct err *err)
{
	int rc;

	rows->added = rows->sent = rows->nameless = rows->left_out = 0;
	rc = open_target(rows, to, err);
	if (rc == 0)
		rc = rows->upload->records.follow ? upload_follow(rows, err)
						  : send_once(rows, err);
	if (rc == 0 || rows->sent + rows->left_out > 0)
		report_end(rows);
	rows->incomplete |= rows->left_out > 0 && !rows->upload->records.follow;
	if (rows->target != NULL)
		rows->type->close(&rows->target);
	return rc;
}

static int
run(struct upload_values *upload, enum record_kind kind, enum target_use use,
    const char *word, struct err *err)
{
	struct upload_records rows = { .upload = upload,
		.kind = kind,
		.use = use,
		.word = word,
		.partition = upload->partition,
		.pattern = text_of(upload->records.name) };
	int rc;

	/* Block signals first: a reader thread must not receive them. */
	interrupt_hold();
	/* Only raw times are the same whenever a record is sent. */
	source_default_clock(&upload->source, CLOCK_RAW);
	columns_init(&rows.groups);
	rc = source_open(&rows.source, &upload->source, err);
	if (rc == 0 && !upload->records.follow)
		rc = known_check_nodes(rows.source, text_of(rows.partition),
		    text_of(upload->node.list), err);
	if (rc == 0)
		rc = upload_records_learn_groups(&rows, err);
	for (uint32_t i = 0; rc == 0 && i < upload->targets.count; i++)
		rc = send_to(&rows, upload->targets.at[i], err);
	rc = source_finish(&rows.source, rc, err);
	columns_clear(&rows.groups);
	return rc == 0 && !rows.incomplete ? 0 : 1;
}

static int
run_samples(struct upload_values *upload, const struct opt_operands *operands,
    struct err *err)
{
	(void)operands;
	return run(upload, RECORD_SAMPLE, TARGET_SAMPLES, "samples", err);
}

static int
run_events(struct upload_values *upload, const struct opt_operands *operands,
    struct err *err)
{
	(void)operands;
	return run(upload, RECORD_EVENT, TARGET_EVENTS, "events", err);
}

static void
allow_files(const struct upload_values *upload, struct sandbox *sandbox,
    const struct opt_operands *operands)
{
	(void)operands;
	source_sandbox(sandbox, &upload->source);
	if (!upload->records.follow)
		return;
	if (upload->records.cursor != NULL)
		sandbox_write_parent(sandbox, upload->records.cursor);
	else
		sandbox_write_or(sandbox, NULL, "run");
}

static void
check(const struct upload_values *upload, enum target_use use)
{
	upload_check_targets(upload, use);
	if (upload->records.follow && upload->targets.count > 1)
		opt_usage(
		    "--follow supports one --target; start another process "
		    "for each further target");
	if (upload->records.cursor != NULL && !upload->records.follow)
		opt_usage("--cursor requires --follow");
}

static void
check_samples(
    const struct upload_values *upload, const struct opt_operands *operands)
{
	(void)operands;
	check(upload, TARGET_SAMPLES);
}

static void
check_events(
    const struct upload_values *upload, const struct opt_operands *operands)
{
	(void)operands;
	check(upload, TARGET_EVENTS);
}

static const struct upload_command upload_samples = {
	.word = "samples",
	.allow_files = allow_files,
	.check = check_samples,
	.run = run_samples,
};

static const struct upload_command upload_events = {
	.word = "events",
	.allow_files = allow_files,
	.check = check_events,
	.run = run_events,
};

static const struct opt options[] = {
	{ "target", 0, OPT_LIST, OPT_TO(struct upload_values, targets),
	    "TARGET", "upload to this target (scheme:rest); may be repeated" },
	{ "broker", 0, OPT_LIST, OPT_TO(struct upload_values, broker),
	    "ENDPOINT",
	    "send records of uploads to this broker (default: "
	    "ipc://DIR/run/broker.ipc); may be repeated for failover" },
	{ .name = NULL },
};

static const struct opt range_options[] = {
	NODE_OPTION(struct upload_values, node),
	{ "from", 0, OPT_TEXT, OPT_TO(struct upload_values, from), "TIME",
	    "upload only records from this time on: -1h, 2026-11-20T10:00:00Z, "
	    "epoch seconds" },
	{ "to", 0, OPT_TEXT, OPT_TO(struct upload_values, to), "TIME",
	    "upload only records before this time" },
	{ .name = NULL },
};

static const struct upload_command *const commands[] = {
	&upload_results, /**/
	&upload_file,    /**/
	&upload_metrics, /**/
	&upload_samples, /**/
	&upload_events,
};

#define ALL                                                                    \
	"partition configdir credentials config-json pool target broker "      \
	"cacert retry-time dry-run "
#define RANGE ALL "node from to "
static const struct opt_topic topics[] = {
	{ "results", "", "files of benchmark results",
	    ALL "datadir archivedir settle strict refuse watch timeout",
	    "poolscope upload results -d results -a sent --target store\n" },
	{ "file", " FILE|-", "a file, or standard input", ALL,
	    "poolscope upload file report.json --target s3:bucket/r.json\n" },
	{ "metrics", "", "metrics of nodes, as a run of an experiment",
	    RANGE "style prefix step cpu-count param artifact",
	    "poolscope upload metrics --from -1h --target "
	    "mlflow:RUN\n" },
	{ "samples", "", "samples of metrics", RANGE "name follow cursor",
	    "poolscope upload samples --from -1h --target "
	    "influx:http://db:8428\n" },
	{ "events", "", "events", RANGE "name follow cursor",
	    "poolscope upload events --from -1h --target http:http://h/e\n" },
	{ .word = NULL },
};

/* The word is one of the topics. */
static const struct upload_command *
get_command(const char *word)
{
	uint32_t i = 0;

	while (strcmp(commands[i]->word, word) != 0)
		i++;
	return commands[i];
}

static void
take_time(const char *name, const char *word, int64_t *ns)
{
	struct err err;

	if (*word != '\0' &&
	    clock_parse_time(text_of(word), clock_wall_ns(), ns, &err) != 0)
		opt_usage("--%s: %s", name, err.text);
}

static void
enter_sandbox(const struct upload_values *upload,
    const struct upload_command *command, const struct opt_operands *operands)
{
	struct sandbox sandbox;

	sandbox_begin(&sandbox);
	http_sandbox(&sandbox, &upload->http);
	sandbox_read_or(&sandbox, upload->source.key.key, "keys/agent.key");
	command->allow_files(upload, &sandbox, operands);
	sandbox_close(&sandbox, false);
}

static void
parse(struct upload_values *upload, int argc, char **argv,
    struct opt_operands *operands)
{
	/* The options of the commands are inserted here. */
	const struct opt_table tables[] = { { pool_options, &upload->pool },
		{ options, upload }, { range_options, upload },
		{ upload_records_options, &upload->records },
		{ upload_results_options, &upload->results },
		{ upload_metrics_options, &upload->metrics },
		{ http_options, &upload->http },
		{ source_options, &upload->source }, { opt_common, NULL },
		{ NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-upload",
		.synopsis = "WHAT [options]",
		.summary = "upload results, files, records and metrics to "
			   "other services; WHAT is one of",
		.examples = "poolscope upload file report.json --target "
			    "s3:bucket/report.json\n"
			    "poolscope upload samples --from -1h --target "
			    "influx:http://db:8428\n",
		.tables = tables,
		.topics = topics,
	};

	opt_parse(&program, argc, argv, operands);
}

int
main(int argc, char **argv)
{
	struct upload_values upload = upload_default;
	const struct upload_command *command;
	struct opt_operands operands;
	struct err err = { 0 };
	int status = EXIT_FAILURE;

	parse(&upload, argc, argv, &operands);
	command = get_command(operands.at[0]);
	if (upload.targets.count == 0)
		opt_usage("--target TARGET is required");
	operands.at++;
	operands.count--;
	node_option_check(&upload.node);
	take_time("from", upload.from, &upload.from_ns);
	take_time("to", upload.to, &upload.to_ns);
	time_options_check(upload.from_ns, upload.to_ns);
	/* Services get all times in UTC. */
	clock_set_zone("UTC", NULL);
	if (command->check != NULL)
		command->check(&upload, &operands);
	if (command == &upload_file ||
	    pool_partition(upload.partition, &upload.pool, &err) == 0) {
		enter_sandbox(&upload, command, &operands);
		status = command->run(&upload, &operands, &err);
	}
	if (err.code != ERR_NONE)
		log_fail(&err);
	return status;
}
