/*
 * upload_records - samples and events to where they are looked at.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/records.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "exporters/samples/series.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/os/progress.h"
#include "proto/service/interrupt.h"

enum { ASK_EVERY = 1024, NAME_DIGITS = 32 };
#define SHOW_EVERY_NS (NS_PER_SECOND / 4)

const struct opt upload_records_options[] = {
	{ "name", 0, OPT_TEXT, OPT_TO(struct upload_records_values, name),
	    "PATTERN",
	    "only sets, or events (source:name), like this (* and ?)", NULL,
	    false },
	{ "follow", 0, OPT_FLAG, OPT_TO(struct upload_records_values, follow),
	    NULL, "go on with what comes, from where the cursor is", NULL,
	    false },
	{ "cursor", 0, OPT_TEXT, OPT_TO(struct upload_records_values, cursor),
	    "FILE", "where --follow remembers how far it is", NULL, false },
	{ .name = NULL },
};

/* ---- what both ways of sending share ---- */

struct wire_query
upload_records_query(const struct upload_records *rows)
{
	struct wire_query query = source_query(1u << rows->kind);

	query.node = text_of(rows->upload->node);
	query.from_ns = rows->upload->from_ns;
	query.to_ns = rows->upload->until_ns;
	return query;
}

static bool
is_wanted(const struct upload_records *rows, const struct record *record)
{
	char name[2 * NAME_BYTES_MAX + 2];
	struct text whole = record->source;

	if (rows->pattern.bytes == 0)
		return true;
	if (record->kind == RECORD_EVENT) {
		whole.at = name;
		whole.bytes = (uint32_t)snprintf(name, sizeof(name),
		    "%.*s:%.*s", (int)record->source.bytes, record->source.at,
		    (int)record->name.bytes, record->name.at);
	}
	return text_match(rows->pattern, whole);
}

int
upload_records_add(
    struct upload_records *rows, const struct record *record, struct err *err)
{
	struct target_row row = { .partition = text_of(rows->partition),
		.record = record };
	int rc;

	if (record->kind == RECORD_ENTITY)
		columns_take(&rows->sets, record);
	if (record->kind != rows->kind || !is_wanted(rows, record))
		return 1;
	if (record->kind == RECORD_SAMPLE) {
		const struct columns *columns =
		    columns_find(&rows->sets, record->source);

		row.names = columns->names;
		row.units = columns->units;
		row.columns = columns->count;
		row.definition = columns->definition;
	}
	rc = rows->type->add(rows->target, &row, err);
	if (rc > 0) {
		rows->added++;
		rows->nameless += record->kind == RECORD_SAMPLE &&
				  record->values > row.columns;
	}
	return rc;
}

static void
show(struct upload_records *rows)
{
	int64_t now_ns = clock_monotonic_ns();

	if (opt_common_values.quiet || !progress_is_wanted() ||
	    rows->upload->http.dry_run ||
	    now_ns - rows->shown_ns < SHOW_EVERY_NS)
		return;
	rows->shown_ns = now_ns;
	fprintf(stderr, "\r%.40s: %" PRIu64 " %s sent\033[K", rows->place,
	    rows->sent, rows->word);
	fflush(stderr);
}

int
upload_records_flush(
    struct upload_records *rows, const char *name, struct err *err)
{
	if (rows->added == 0)
		return 0;
	if (rows->type->flush(rows->target, name, err) != 0)
		return -1;
	rows->sent += rows->added;
	rows->added = 0;
	show(rows);
	return 0;
}

/* ---- once ---- */

static int
read_sets(struct upload_records *rows, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	struct record record;
	int rc;

	query.name = text_of("set:*");
	if (source_select(rows->source, SOURCE_RECORDS,
		text_of(rows->partition), &query, err) != 0)
		return -1;
	while ((rc = source_next(rows->source, &record, err)) > 0)
		columns_take(&rows->sets, &record);
	return rc;
}

/* The same records have the same name: it is made of who they are and of when,
 * as that is shown. */
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

		if (read++ % ASK_EVERY == 0 && interrupt_is_asked())
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
	char place[HTTP_PLACE_BYTES];
	const char *rest;

	rows->to = to;
	rows->type = target_find(to, rows->use, &rest, err);
	if (rows->type == NULL)
		return -1;
	snprintf(rows->place, sizeof(rows->place), "%s:%s", rows->type->scheme,
	    http_place(place, rest));
	return rows->type->open(&rows->target, rest, &rows->upload->http, err);
}

/* A mistake in the name of a pool is reported from an empty choice. */
static void
say_none(struct upload_records *rows)
{
	int64_t first_ns, last_ns;
	struct err why;

	if (series_extent(rows->source, text_of(rows->partition), &first_ns,
		&last_ns, &why) != 0)
		log_warn("no %s: %s", rows->word, why.text);
	else
		log_warn("no such %s of partition %s in %s", rows->word,
		    rows->partition, source_name(rows->source));
}

static void
say_end(struct upload_records *rows)
{
	if (!opt_common_values.quiet && progress_is_wanted() &&
	    rows->shown_ns != 0)
		progress_clear();
	if (rows->nameless > 0)
		log_warn("%" PRIu64 " samples have numbers that no set of the "
			 "pool names; they are called value_0, value_1 ...",
		    rows->nameless);
	if (opt_common_values.quiet || rows->upload->http.dry_run)
		return;
	if (rows->sent == 0 && !rows->upload->records.follow)
		say_none(rows);
	else
		log_info("%" PRIu64 " %s sent to %s", rows->sent, rows->word,
		    rows->place);
}

static int
send_to(struct upload_records *rows, const char *to, struct err *err)
{
	int rc;

	rows->added = rows->sent = rows->nameless = 0;
	rc = open_target(rows, to, err);
	if (rc == 0)
		rc = rows->upload->records.follow ? upload_follow(rows, err)
						  : send_once(rows, err);
	if (rc == 0 || rows->sent > 0)
		say_end(rows);
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
		.pattern = text_of(upload->records.name) };
	const char *why;
	int rc;

	/* A thread that reads ahead must not get the signals. */
	interrupt_hold();
	/* What was sent once is the same when it is sent again. */
	source_default_clock(&upload->source, CLOCK_RAW);
	columns_init(&rows.sets);
	rc = instance_partition(rows.partition, upload->partition, &why, err);
	if (rc == 0)
		rc = source_open(&rows.source, &upload->source, err);
	if (rc == 0)
		rc = read_sets(&rows, err);
	for (uint32_t i = 0; rc == 0 && i < upload->to.count; i++)
		rc = send_to(&rows, upload->to.at[i], err);
	source_close(&rows.source);
	columns_clear(&rows.sets);
	return rc == 0 ? 0 : 1;
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
fence(const struct upload_values *upload, struct sandbox *sandbox,
    const struct opt_operands *operands)
{
	(void)operands;
	source_sandbox(sandbox, &upload->source);
	if (!upload->records.follow)
		return;
	if (upload->records.cursor != NULL)
		sandbox_write_beside(sandbox, upload->records.cursor);
	else
		sandbox_write_or(sandbox, NULL, "run");
}

static void
check(const struct upload_values *upload, enum target_use use)
{
	upload_check_targets(upload, use);
	if (upload->records.follow && upload->to.count > 1)
		opt_usage("--follow sends to one --to; start another for the "
			  "next");
	if (upload->records.cursor != NULL && !upload->records.follow)
		opt_usage("--cursor is for --follow");
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

const struct upload_command upload_samples = {
	.word = "samples",
	.arguments = "takes no more arguments",
	.options = upload_records_options,
	.ranged = true,
	.fence = fence,
	.check = check_samples,
	.run = run_samples,
};

const struct upload_command upload_events = {
	.word = "events",
	.arguments = "takes no more arguments",
	.options = upload_records_options,
	.ranged = true,
	.fence = fence,
	.check = check_events,
	.run = run_events,
};
