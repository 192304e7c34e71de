/*
 * upload_record_commands - the samples and events commands.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/record_commands.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "exporters/source/known.h"
#include "exporters/upload/records.h"
#include "proto/os/log.h"
#include "proto/os/progress.h"
#include "proto/service/interrupt.h"

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

const struct upload_command upload_samples = {
	.word = "samples",
	.allow_files = allow_files,
	.check = check_samples,
	.run = run_samples,
};

const struct upload_command upload_events = {
	.word = "events",
	.allow_files = allow_files,
	.check = check_events,
	.run = run_events,
};
