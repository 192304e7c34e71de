/*
 * upload_follow - upload records as they arrive, exactly once, even if the
 * sender is killed.
 *
 * A request is a range of the journal.  It ends where the target has no more
 * room, which is reproducible, or after the newest entry; the range is saved
 * before the request is sent.  A repeated request therefore has the same range
 * and name, and a service that deduplicates by name stores it once.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/follow.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "exporters/source/follow_position.h"
#include "exporters/upload/follow_cursor.h"
#include "proto/os/clock.h"
#include "proto/os/lockfile.h"
#include "proto/os/log.h"
#include "proto/service/interrupt.h"

enum { ASK_EVERY = 1024, NAME_BYTES = 192, DISPLAY_BYTES_MAX = 60 };
#define POLL_NS       (NS_PER_SECOND / 5)
#define SAVE_EVERY_NS (60 * NS_PER_SECOND)

/* A position: the entry, and the number of the record in it, from 1. */
struct position {
	uint64_t entry, number;
};

struct follow {
	struct upload_records *rows;
	struct upload_cursor
	    cursor; /* position up to which everything is acknowledged */
	char path[INSTANCE_PATH_BYTES];
	struct lockfile lockfile;
	struct position
	    start; /* position up to which records were sent before a restart */
	struct position at, first,
	    last;      /* first and last record of the request */
	uint64_t lost; /* batches purged or damaged */
	uint64_t read;
	int64_t saved_ns;
};

/* ---- the cursor ---- */

static void
add_text(crypto_generichash_state *state, const char *text)
{
	crypto_generichash_update(
	    state, (const unsigned char *)text, strlen(text) + 1);
}

/* Followers with different records or targets have different cursors.  Times
 * are compared as the user gave them: "-1h" is always the same selection. */
static void
make_selection(const struct upload_records *rows, char *to)
{
	crypto_generichash_state state;
	unsigned char hash[(UPLOAD_SELECTION_BYTES - 1) / 2];

	crypto_generichash_init(&state, NULL, 0, sizeof(hash));
	add_text(&state, rows->word);
	add_text(&state, rows->to);
	add_text(&state, rows->partition);
	add_text(&state, rows->upload->node.list);
	add_text(&state, rows->upload->records.name);
	add_text(&state, rows->upload->from);
	add_text(&state, rows->upload->to);
	crypto_generichash_final(&state, hash, sizeof(hash));
	sodium_bin2hex(to, UPLOAD_SELECTION_BYTES, hash, sizeof(hash));
}

static int
make_path(struct follow *f, const char *selection, struct err *err)
{
	char dir[INSTANCE_PATH_BYTES], name[INSTANCE_PATH_BYTES];
	char encoded[3 * DISPLAY_BYTES_MAX + 1];
	struct text display = text_of(f->rows->display);

	if (f->rows->upload->records.cursor != NULL) {
		int bytes = snprintf(f->path, sizeof(f->path), "%s",
		    f->rows->upload->records.cursor);

		return (size_t)bytes < sizeof(f->path)
			   ? 0
			   : err_set_option(err, "cursor",
				 "the path has %d bytes; at most %zu are "
				 "supported",
				 bytes, sizeof(f->path) - 1);
	}
	if (display.bytes > DISPLAY_BYTES_MAX)
		display.bytes = DISPLAY_BYTES_MAX;
	http_encode(encoded, sizeof(encoded), display, "");
	if (instance_path(dir, "run", err) != 0 ||
	    instance_make_dir(dir, err) != 0)
		return -1;
	snprintf(name, sizeof(name), "run/upload-%s-%.16s.cursor", encoded,
	    selection);
	return instance_path(f->path, name, err);
}

static int
take_lock(struct follow *f, struct err *err)
{
	char path[INSTANCE_PATH_BYTES + 8];
	long holder;

	snprintf(path, sizeof(path), "%s.lock", f->path);
	if (lockfile_take(&f->lockfile, path, &holder, err) == 0)
		return 0;
	if (holder > 0)
		return err_set(err, "%s: process %ld already uses this cursor",
		    f->path, holder);
	return -1;
}

static int
save(struct follow *f, struct err *err)
{
	f->saved_ns = clock_monotonic_ns();
	return f->rows->upload->http.dry_run
		   ? 0
		   : upload_cursor_save(&f->cursor, f->path, err);
}

/* The times of the first start stay in force, and are on disk before anything
 * is sent, so that a repeated request has the same records. */
static int
fix_times(struct follow *f, bool found, struct err *err)
{
	if (found) {
		f->rows->upload->from_ns = f->cursor.from_ns;
		f->rows->upload->to_ns = f->cursor.to_ns;
		return 0;
	}
	f->cursor.from_ns = f->rows->upload->from_ns;
	f->cursor.to_ns = f->rows->upload->to_ns;
	return save(f, err);
}

static int
open_cursor(struct follow *f, struct err *err)
{
	char selection[UPLOAD_SELECTION_BYTES];
	bool found;

	make_selection(f->rows, selection);
	if (make_path(f, selection, err) != 0 || take_lock(f, err) != 0 ||
	    upload_cursor_load(&f->cursor, f->path, &found, err) != 0)
		return -1;
	if (found && strcmp(f->cursor.selection, selection) != 0)
		return err_set(err,
		    "the cursor %.300s belongs to another target or other "
		    "records",
		    f->path);
	memcpy(f->cursor.selection, selection, sizeof(selection));
	f->rows->sent = 0;
	return fix_times(f, found, err);
}

/* ---- requests ---- */

/* Send the added records; everything before `next` is then done.  `until` is
 * the last entry if the end of the journal ended the request, else 0. */
static int
flush(struct follow *f, struct position next, uint64_t until, struct err *err)
{
	char name[NAME_BYTES];

	if (f->rows->added > 0 && f->cursor.until != until) {
		f->cursor.until = until;
		if (save(f, err) != 0)
			return -1;
	}
	snprintf(name, sizeof(name),
	    "%.16s-%016" PRIx64 "-%" PRIu64 ".%" PRIu64 "-%" PRIu64 ".%" PRIu64,
	    f->cursor.selection, f->cursor.generation, f->first.entry,
	    f->first.number, f->last.entry, f->last.number);
	f->cursor.sent += f->rows->added;
	if (f->rows->added == 0 &&
	    clock_monotonic_ns() - f->saved_ns < SAVE_EVERY_NS) {
		f->cursor.entry = next.entry;
		f->cursor.records = next.number;
		f->cursor.until = 0;
		return 0; /* skipping it again is cheap */
	}
	if (upload_records_flush(f->rows, name, err) != 0)
		return -1;
	f->first.entry = 0;
	f->cursor.entry = next.entry;
	f->cursor.records = next.number;
	f->cursor.until = 0;
	return save(f, err);
}

static int
add(struct follow *f, const struct record *record, struct err *err)
{
	uint64_t before = f->rows->added;
	struct position done = { f->at.entry, f->at.number - 1 };
	int rc = upload_records_add(f->rows, record, err);

	if (rc == 0) {
		if (flush(f, done, f->cursor.until, err) != 0)
			return -1;
		before = 0;
		rc = upload_records_add(f->rows, record, err);
	}
	if (rc < 0)
		return -1;
	if (f->rows->added > before) {
		if (before == 0)
			f->first = f->at;
		f->last = f->at;
	}
	return 0;
}

/* Report batches that are no longer readable. */
static void
report_lost(struct follow *f, const struct record *gap)
{
	f->lost += gap->count;
	f->start.number = 0;
	log_warn("%" PRIu64
		 " batches were %.*s before they could be sent to %s",
	    gap->count, (int)gap->name.bytes, gap->name.at, f->rows->display);
}

/* ---- the journal ---- */

static int
take_record(struct follow *f, const struct record *record, struct err *err)
{
	uint64_t entry = source_entry(f->rows->source);

	if (record->kind == RECORD_GAP) {
		report_lost(f, record);
		return 0;
	}
	if (f->at.entry != entry)
		f->at = (struct position){ entry, 0 };
	f->at.number++;
	/* Already sent, but it may define the columns of later samples. */
	if (entry == f->start.entry && f->at.number <= f->start.number) {
		if (record->kind == RECORD_ENTITY)
			columns_take(&f->rows->groups, record);
		return 0;
	}
	if (f->cursor.until != 0 && entry >= f->cursor.until &&
	    flush(f, (struct position){ f->cursor.until, 0 }, f->cursor.until,
		err) != 0)
		return -1;
	return add(f, record, err);
}

/* Send all available records: 0, or 1 if interrupted. */
static int
follow_to_end(struct follow *f, struct err *err)
{
	struct wire_query query = upload_records_query(f->rows);
	struct follow_position follow_position = { f->cursor.generation,
		f->cursor.entry };
	struct record record;
	uint64_t end;
	int rc;

	query.kinds |= f->rows->kind == RECORD_SAMPLE ? 1u << RECORD_ENTITY : 0;
	f->start = (struct position){ f->cursor.entry, f->cursor.records };
	f->at = (struct position){ f->cursor.entry, 0 };
	if (follow_position_follow(&follow_position, f->rows->source,
		text_of(f->rows->partition), &query, err) != 0)
		return err_prefix(err, "the cursor %.200s", f->path);
	f->cursor.generation = source_generation(f->rows->source);
	while ((rc = source_next(f->rows->source, &record, err)) > 0) {
		if (f->read++ % ASK_EVERY == 0 && interrupt_is_pending())
			return 1;
		if (take_record(f, &record, err) != 0)
			return -1;
	}
	if (rc < 0)
		return -1;
	end = source_followed(f->rows->source);
	return flush(f, (struct position){ end, 0 }, end, err);
}

int
upload_follow(struct upload_records *rows, struct err *err)
{
	struct follow f = { .rows = rows };
	int rc = open_cursor(&f, err);

	if (rc == 0 && rows->kind == RECORD_SAMPLE)
		rc = upload_records_learn_groups(rows, err);
	rows->upload->http.wait_out = true;
	while (rc == 0) {
		/* Without its lock somebody else may use the cursor. */
		rc = held_file_check(err);
		if (rc == 0)
			rc = follow_to_end(&f, err);
		if (rc == 0 &&
		    (rows->upload->http.dry_run || !interrupt_sleep(POLL_NS)))
			break;
	}
	/* Records that were not sent are sent after the next start. */
	if (rc == 0)
		rc = save(&f, err);
	else if (interrupt_is_pending()) {
		rc = 0;
		err_clear(err);
	}
	if (f.lost > 0)
		log_warn("%" PRIu64 " batches could not be sent", f.lost);
	lockfile_release(&f.lockfile);
	return rc;
}
