/*
 * upload_records - upload records from a source to a target, also as they
 * arrive.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/records.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "exporters/source/follow_position.h"
#include "proto/base/number.h"
#include "proto/os/clock.h"
#include "proto/os/lockfile.h"
#include "proto/os/log.h"
#include "proto/os/progress.h"
#include "proto/os/whole_file.h"
#include "proto/service/interrupt.h"

#define TITLE "poolscope-upload cursor 1\n"

/* ---- reading ---- */

/* Remove "NAME VALUE\n" from the front of the text. */
static bool
take_line(struct text *rest, const char *name, struct text *value)
{
	size_t bytes = strlen(name);
	const char *end;

	if (rest->bytes <= bytes + 1 || memcmp(rest->at, name, bytes) != 0 ||
	    rest->at[bytes] != ' ')
		return false;
	end = memchr(rest->at, '\n', rest->bytes);
	if (end == NULL)
		return false;
	*value = (struct text){ rest->at + bytes + 1,
		(uint32_t)(end - rest->at - (ptrdiff_t)bytes - 1) };
	rest->bytes -= (uint32_t)(end + 1 - rest->at);
	rest->at = end + 1;
	return true;
}

static bool
take_number(struct text *rest, const char *name, uint64_t *number)
{
	struct text value;

	return take_line(rest, name, &value) &&
	       number_parse_u64(value, number, NULL) == 0;
}

/* May be negative. */
static bool
take_time(struct text *rest, const char *name, int64_t *ns)
{
	struct text value;
	uint64_t below;
	bool minus;

	if (!take_line(rest, name, &value))
		return false;
	minus = value.bytes > 0 && *value.at == '-';
	value.at += minus;
	value.bytes -= minus;
	if (number_parse_u64(value, &below, NULL) != 0 ||
	    below > (uint64_t)INT64_MAX + minus)
		return false;
	*ns = minus ? (int64_t)(0 - below) : (int64_t)below;
	return true;
}

int
upload_cursor_parse(
    struct upload_cursor *cursor, struct text text, struct err *err)
{
	struct text rest = text, selection;
	size_t title = strlen(TITLE);

	memset(cursor, 0, sizeof(*cursor));
	if (rest.bytes < title || memcmp(rest.at, TITLE, title) != 0)
		return err_set(err, "it does not begin with '%.*s'",
		    (int)title - 1, TITLE);
	rest.at += title;
	rest.bytes -= (uint32_t)title;
	if (!take_line(&rest, "selection", &selection) ||
	    selection.bytes != UPLOAD_SELECTION_BYTES - 1 ||
	    !take_number(&rest, "generation", &cursor->generation) ||
	    !take_number(&rest, "entry", &cursor->entry) ||
	    !take_number(&rest, "records", &cursor->records) ||
	    !take_number(&rest, "until", &cursor->until) ||
	    !take_number(&rest, "sent", &cursor->sent) ||
	    !take_time(&rest, "from", &cursor->from_ns) ||
	    !take_time(&rest, "to", &cursor->to_ns) || rest.bytes > 0)
		return err_set(err, "it is damaged");
	memcpy(cursor->selection, selection.at, selection.bytes);
	return 0;
}

int
upload_cursor_load(struct upload_cursor *cursor, const char *path, bool *found,
    struct err *err)
{
	char bytes[UPLOAD_CURSOR_BYTES_MAX];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	memset(cursor, 0, sizeof(*cursor));
	*found = fd >= 0;
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_set(err, "%.300s: %s", path, strerror(errno));
	n = read(fd, bytes, sizeof(bytes));
	close(fd);
	if (n < 0)
		return err_set(err, "%.300s: %s", path, strerror(errno));
	if (upload_cursor_parse(
		cursor, (struct text){ bytes, (uint32_t)n }, err) != 0)
		return err_prefix(err, "the cursor %.300s", path);
	return 0;
}

/* ---- writing ---- */

int
upload_cursor_save(
    const struct upload_cursor *cursor, const char *path, struct err *err)
{
	const struct whole_file file = { .path = path };
	char bytes[UPLOAD_CURSOR_BYTES_MAX];
	int n = snprintf(bytes, sizeof(bytes),
	    TITLE "selection %s\ngeneration %" PRIu64 "\nentry %" PRIu64
		  "\nrecords %" PRIu64 "\nuntil %" PRIu64 "\nsent %" PRIu64
		  "\nfrom %" PRId64 "\nto %" PRId64 "\n",
	    cursor->selection, cursor->generation, cursor->entry,
	    cursor->records, cursor->until, cursor->sent, cursor->from_ns,
	    cursor->to_ns);

	if (whole_file_write(&file, bytes, (uint32_t)n) != 0)
		return err_set(
		    err, "the cursor %.300s: %s", path, strerror(errno));
	return 0;
}

#define SHOW_EVERY_NS (NS_PER_SECOND / 4)

const struct opt upload_records_options[] = {
	{ "name", 0, OPT_TEXT, OPT_TO(struct upload_records_values, name),
	    "PATTERN",
	    "upload only matching metric groups or events (source:name; * and "
	    "?)" },
	{ "follow", 0, OPT_FLAG, OPT_TO(struct upload_records_values, follow),
	    NULL, "keep uploading new records, continuing at the cursor" },
	{ "cursor", 0, OPT_TEXT, OPT_TO(struct upload_records_values, cursor),
	    "FILE", "with --follow: save the position in FILE" },
	{ .name = NULL },
};

struct wire_query
upload_records_query(const struct upload_records *rows)
{
	struct wire_query query = source_query(1u << rows->kind);

	query.node = text_of(rows->upload->node.list);
	query.from_ns = rows->upload->from_ns;
	query.to_ns = rows->upload->to_ns;
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
upload_records_learn_groups(struct upload_records *rows, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	struct record record;
	int rc;

	query.name = text_of("set:*");
	if (source_select(rows->source, SOURCE_RECORDS,
		text_of(rows->partition), &query, err) != 0)
		return -1;
	while ((rc = source_next(rows->source, &record, err)) > 0)
		columns_take(&rows->groups, &record);
	return rc;
}

int
upload_records_add(
    struct upload_records *rows, const struct record *record, struct err *err)
{
	struct target_row row = { .partition = text_of(rows->partition),
		.record = record };
	int rc;

	if (record->kind == RECORD_ENTITY)
		columns_take(&rows->groups, record);
	if (record->kind != rows->kind || !is_wanted(rows, record))
		return 1;
	if (record->kind == RECORD_SAMPLE) {
		const struct columns *columns =
		    columns_find(&rows->groups, record->source);

		row.names = columns->names;
		row.units = columns->units;
		row.columns = columns->count;
		row.labels = columns->labels;
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
	fprintf(stderr, "\r%.40s: %" PRIu64 " %s sent\033[K", rows->display,
	    rows->sent, rows->word);
	fflush(stderr);
}

int
upload_records_flush(
    struct upload_records *rows, const char *name, struct err *err)
{
	uint32_t left_out;

	if (rows->added == 0)
		return 0;
	if (rows->type->flush(rows->target, name, &left_out, err) != 0)
		return -1;
	/* A long sample is several lines. */
	if (left_out > rows->added)
		left_out = (uint32_t)rows->added;
	rows->left_out += left_out;
	rows->sent += rows->added - left_out;
	rows->added = 0;
	show(rows);
	return 0;
}

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
