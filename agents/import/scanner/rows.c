/*
 * import_scanner_rows - the files of a job as rows.
 *
 * For each worker: its job:start; for each thread the intervals as spans,
 * their sums, the thread itself and its row in a viewer; then the worker and
 * job:stop. The job follows all workers.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>

#include "agents/import/scanner/job_private.h"
#include "proto/wire/wire.h"

enum step {
	AT_FILE, /* the next file, or the job */
	AT_START,
	IN_FILE,
	AT_SUMS, /* a thread ends */
	AT_THREAD,
	AT_TRACK,
	AT_NODE, /* the file ends */
	AT_STOP,
	AT_END,
};

/* ---- pieces of rows ---- */

static enum import_next
init_row(
    struct import_scanner *s, struct import_row *row, enum record_kind kind)
{
	row->partition = (struct text){ NULL, 0 };
	row->aside = kind != RECORD_SPAN;
	row->record = (struct record){ .kind = kind, .node = text_of(s->node) };
	return IMPORT_LINE;
}

static void
put_int(struct wire_writer *w, uint32_t *count, const char *key, int64_t value)
{
	struct value v = { VALUE_INT, .is.i = value };

	*count += wire_put_attribute(w, text_of(key), &v);
}

static void
put_text_of(
    struct wire_writer *w, uint32_t *count, const char *key, struct text text)
{
	if (text.bytes > 0)
		*count += wire_put_text_attribute(w, text_of(key), text);
}

static void
put_string(
    struct wire_writer *w, uint32_t *count, const char *key, const char *text)
{
	put_text_of(w, count, key, text_of(text));
}

/* An entity with the properties in `w`. */
static enum import_next
make_entity(struct import_scanner *s, struct import_row *row, const char *kind,
    const struct wire_writer *w, uint32_t count)
{
	init_row(s, row, RECORD_ENTITY);
	row->record.source = text_of(kind);
	row->record.name = text_of(s->entity);
	row->record.attributes = count;
	row->record.pairs =
	    (struct text){ (const char *)row->pairs, (uint32_t)w->bytes };
	return IMPORT_LINE;
}

static enum import_next
make_event(struct import_scanner *s, struct import_row *row, const char *name,
    int64_t time_ns)
{
	struct wire_writer w;
	uint32_t count = 0;

	wire_writer_init(&w, row->pairs, sizeof(row->pairs));
	put_string(&w, &count, "job", s->id_text);
	init_row(s, row, RECORD_EVENT);
	row->record.time_ns = time_ns;
	row->record.has_time = true;
	row->record.source = text_of("job");
	row->record.name = text_of(name);
	row->record.attributes = count;
	row->record.pairs =
	    (struct text){ (const char *)row->pairs, (uint32_t)w.bytes };
	return IMPORT_LINE;
}

/* The id of a node, a thread, or a part of its sums. */
static void
set_entity(struct import_scanner *s, int levels)
{
	int node = s->files[s->at].worker + 1;

	if (levels == 1)
		snprintf(
		    s->entity, sizeof(s->entity), "%s/%05d", s->id_text, node);
	else if (levels == 2)
		snprintf(s->entity, sizeof(s->entity), "%s/%05d/%05u",
		    s->id_text, node, s->thread.order);
	else
		snprintf(s->entity, sizeof(s->entity), "%s/%05d/%05u/%05u",
		    s->id_text, node, s->thread.order, s->sums.part);
}

/* ---- a thread ---- */

static void
begin_thread(struct import_scanner *s)
{
	import_scanner_sums_begin(&s->sums);
	s->thread = s->profile.thread;
	s->threads++;
	scanner_track(s->track, &s->thread, &s->profile.shape);
}

static enum import_next
make_interval(struct import_scanner *s, struct import_row *row)
{
	const struct import_profile *p = &s->profile;

	import_scanner_sums_add(&s->sums, p->id, p->from_ns, p->to_ns);
	init_row(s, row, RECORD_SPAN);
	row->record.time_ns = p->from_ns;
	row->record.end_ns = p->to_ns;
	row->record.has_time = row->record.has_end = true;
	row->record.source = text_of(s->track);
	row->record.name = import_name_text(&p->keys[p->id]);
	row->record.key = text_of(scanner_roles[s->thread.role]);
	return IMPORT_LINE;
}

/* A row of complete lines. */
static enum import_next
make_lines(struct import_scanner *s, struct import_row *row)
{
	struct wire_writer w;
	uint32_t count = 0;

	set_entity(s, 3);
	wire_writer_init(&w, row->pairs, sizeof(row->pairs));
	put_text_of(&w, &count, "lines", import_scanner_sums_take(&s->sums));
	return make_entity(s, row, SCANNER_SUMS, &w, count);
}

static enum import_next
make_thread(struct import_scanner *s, struct import_row *row)
{
	const struct scanner_thread *t = &s->thread;
	char name[SCANNER_NAME_BYTES];
	struct wire_writer w;
	uint32_t count = 0;

	wire_writer_init(&w, row->pairs, sizeof(row->pairs));
	scanner_thread_name(name, t, &s->profile.shape);
	put_string(&w, &count, "node", s->node);
	put_string(&w, &count, "track", s->track);
	put_string(&w, &count, "name", name);
	put_string(&w, &count, "type", scanner_roles[t->role]);
	put_string(&w, &count, "tag", scanner_tag(t, &s->profile.shape));
	put_int(&w, &count, "number", t->number);
	put_int(&w, &count, "said_node", s->profile.node);
	put_int(&w, &count, "sort", scanner_thread_sort(t, &s->profile.shape));
	put_int(&w, &count, "intervals", (int64_t)s->sums.intervals);
	if (s->sums.intervals > 0) {
		put_int(&w, &count, "first_ns", s->sums.first_ns);
		put_int(&w, &count, "last_ns", s->sums.last_ns);
	}
	set_entity(s, 2);
	return make_entity(s, row, SCANNER_THREAD, &w, count);
}

/* The name and position of the row in a viewer. */
static enum import_next
make_track(struct import_scanner *s, struct import_row *row)
{
	int32_t worker = s->files[s->at].worker;
	char name[SCANNER_NAME_BYTES], process[32];
	struct wire_writer w;
	uint32_t count = 0;

	wire_writer_init(&w, row->pairs, sizeof(row->pairs));
	scanner_thread_name(name, &s->thread, &s->profile.shape);
	snprintf(process, sizeof(process), "Worker %" PRId32, worker);
	put_string(&w, &count, "node", s->node);
	put_string(&w, &count, "track", s->track);
	put_string(&w, &count, "name", name);
	put_int(&w, &count, "sort",
	    scanner_thread_sort(&s->thread, &s->profile.shape));
	put_string(&w, &count, "process", worker < 0 ? "Master" : process);
	snprintf(s->entity, sizeof(s->entity), "%s/%s", s->node, s->track);
	return make_entity(s, row, "track", &w, count);
}

/* ---- a file ---- */

/* 1: it is open; 0: there are no more files. */
static int
open_file(struct import_scanner *s, struct err *err)
{
	const struct scanner_file *f;
	char path[PATH_MAX];

	while (s->at < s->count && !s->files[s->at].is_usable)
		s->at++;
	if (s->at == s->count)
		return 0;
	f = &s->files[s->at];
	if (import_scanner_path(s, f, path, err) != 0 ||
	    import_file_open_found(&s->file, path, err) != 0)
		return -1;
	s->opened = true;
	if (memcmp(s->file.digest, f->digest, sizeof(f->digest)) != 0)
		return err_set(err, "%s: was changed while it was read", path);
	s->file.name = "a profile"; /* the path is local */
	import_profile_init(&s->profile, &s->file, f->worker < 0, s->base_ns);
	if (f->worker < 0)
		snprintf(s->node, sizeof(s->node), "%s", SCANNER_MASTER);
	else
		snprintf(s->node, sizeof(s->node), "%" PRId32, f->worker);
	s->threads = 0;
	s->step = AT_START;
	return 1;
}

static void
close_file(struct import_scanner *s)
{
	s->bytes_before += s->file.bytes;
	import_file_close(&s->file);
	s->opened = false;
	s->at++;
	s->step = AT_FILE;
}

/* The next item of the file.  IMPORT_END: another step follows. */
static enum import_next
read_file(struct import_scanner *s, struct import_row *row, struct err *err)
{
	struct import_profile *p = &s->profile;

	for (;;) {
		if (import_scanner_sums_left(&s->sums) > SCANNER_PART_BYTES)
			return make_lines(s, row);
		switch (import_profile_next(p, err)) {
		case PROFILE_INTERVAL: return make_interval(s, row);
		case PROFILE_THREAD: begin_thread(s); break;
		case PROFILE_COUNTER:
			import_scanner_sums_list_counter(&s->sums, p);
			break;
		case PROFILE_THREAD_END:
			import_scanner_sums_list(&s->sums, p);
			s->step = AT_SUMS;
			return IMPORT_END;
		case PROFILE_END: s->step = AT_NODE; return IMPORT_END;
		case PROFILE_FAILED: return IMPORT_FAILED;
		default: break; /* already reported */
		}
	}
}

static enum import_next
make_node(struct import_scanner *s, struct import_row *row)
{
	const struct scanner_file *f = &s->files[s->at];
	const struct scanner_shape *shape = &s->profile.shape;
	struct wire_writer w;
	uint32_t count = 0;

	wire_writer_init(&w, row->pairs, sizeof(row->pairs));
	put_string(&w, &count, "node", s->node);
	put_int(&w, &count, "worker", f->worker);
	put_int(&w, &count, "begin_ns", f->begin_ns);
	put_int(&w, &count, "end_ns", f->end_ns);
	put_int(&w, &count, "readers", shape->readers);
	put_int(&w, &count, "pipelines", shape->pipelines);
	put_int(&w, &count, "stages", shape->stages);
	put_int(&w, &count, "writers", shape->writers);
	put_int(&w, &count, "threads", s->threads);
	put_int(&w, &count, "intervals", (int64_t)f->intervals);
	put_int(&w, &count, "damaged", f->notes);
	set_entity(s, 1);
	return make_entity(s, row, SCANNER_NODE, &w, count);
}

static enum import_next
make_job(struct import_scanner *s, struct import_row *row)
{
	struct wire_writer w;
	uint32_t count = 0, workers = 0;

	for (uint32_t i = 0; i < s->count; i++)
		workers += s->files[i].is_usable && s->files[i].worker >= 0;
	wire_writer_init(&w, row->pairs, sizeof(row->pairs));
	put_int(&w, &count, "id", s->id);
	put_text_of(&w, &count, "name", import_name_text(&s->name));
	put_int(&w, &count, "base_ns", s->base_ns);
	put_int(&w, &count, "begin_ns", s->begin_ns);
	put_int(&w, &count, "end_ns", s->end_ns);
	put_int(&w, &count, "nodes", s->nodes);
	put_int(&w, &count, "workers", workers);
	put_int(&w, &count, "intervals", (int64_t)s->intervals);
	put_int(&w, &count, "damaged", (int64_t)s->notes);
	put_text_of(&w, &count, "damage", buffer_text(&s->why));
	snprintf(s->entity, sizeof(s->entity), "%s", s->id_text);
	return make_entity(s, row, SCANNER_JOB, &w, count);
}

/* ---- all files ---- */

/* One step.  IMPORT_END: it gave no row; call again. */
static enum import_next
step(struct import_scanner *s, struct import_row *row, struct err *err)
{
	const struct scanner_file *f = &s->files[s->at];
	int opened;

	switch ((enum step)s->step) {
	case AT_FILE:
		opened = open_file(s, err);
		if (opened != 0)
			return opened < 0 ? IMPORT_FAILED : IMPORT_END;
		s->step = AT_END;
		return make_job(s, row);
	case AT_START:
		s->step = IN_FILE;
		return make_event(s, row, "start", f->begin_ns);
	case IN_FILE: return read_file(s, row, err);
	case AT_SUMS:
		if (import_scanner_sums_left(&s->sums) > 0)
			return make_lines(s, row);
		s->step = AT_THREAD;
		return IMPORT_END;
	case AT_THREAD: s->step = AT_TRACK; return make_thread(s, row);
	case AT_TRACK: s->step = IN_FILE; return make_track(s, row);
	case AT_NODE: s->step = AT_STOP; return make_node(s, row);
	case AT_STOP:
		make_event(s, row, "stop", f->end_ns);
		close_file(s);
		return IMPORT_LINE;
	case AT_END: break;
	}
	return IMPORT_END;
}

enum import_next
import_scanner_next(void *arg, struct import_row *row, struct err *err)
{
	struct import_scanner *s = arg;
	enum import_next next = IMPORT_END;

	while (next == IMPORT_END && s->step != AT_END)
		next = step(s, row, err);
	return next;
}

uint64_t
import_scanner_offset(const void *arg)
{
	const struct import_scanner *s = arg;

	return s->bytes_before +
	       (s->opened ? import_profile_offset(&s->profile) : 0);
}

void
import_scanner_rewind(void *arg)
{
	struct import_scanner *s = arg;

	if (s->opened)
		import_file_close(&s->file);
	s->opened = false;
	s->step = AT_FILE;
	s->at = 0;
	s->bytes_before = 0;
}
