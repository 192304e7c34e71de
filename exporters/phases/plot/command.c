/*
 * phases_plot_command - pictures of the phases of any model.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/phases/plot/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/phases/node_bands.h"
#include "exporters/phases/phase_rows.h"
#include "exporters/phases/plot/timeline_plot.h"
#include "exporters/phases/read.h"
#include "exporters/plot/boxes.h"
#include "exporters/plot/gnuplot.h"
#include "exporters/source/pool.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

enum {
	WORDS_BYTES = 512,
	NOTE_BYTES = SOURCE_CLOCK_WORDS + WORDS_BYTES,
	NAME_ROOM = 2 * NAME_BYTES_MAX + 3,
	SHOWN_BYTES = 300,
	BASE_BYTES = INSTANCE_PATH_BYTES + NAME_BYTES_MAX + 32,
};

struct plotter {
	struct source *source;
	struct text partition;
	const struct plot_phases *what;
	const struct picture *picture;
	struct phases_names names;
	uint32_t drawn;
};

static struct wire_query
query_of(
    const struct plotter *p, struct text model, char name[static NAME_ROOM])
{
	struct wire_query query = source_query(1u << RECORD_PHASE);

	snprintf(name, NAME_ROOM, "%.*s:*", (int)model.bytes, model.at);
	query.name = text_of(name);
	query.node = text_of(p->what->node);
	query.from_ns = p->what->from_ns;
	query.to_ns = p->what->to_ns;
	return query;
}

static int
draw(struct plotter *p, struct text model, const char *view, const void *what,
    void (*put_table)(const void *, FILE *),
    void (*put_script)(
	const void *, FILE *, const char *, enum gnuplot_terminal),
    struct err *err)
{
	char pool[INSTANCE_PATH_BYTES], base[BASE_BYTES];
	struct text prefix = pool_base(pool, p->partition);
	struct picture picture = *p->picture;

	snprintf(base, sizeof(base), "%.*s-%.*s-%s", (int)prefix.bytes,
	    prefix.at, (int)model.bytes, model.at, view);
	picture.base = text_of(base);
	picture.what = what;
	picture.put_table = put_table;
	picture.put_script = put_script;
	if (p->drawn++ == 0 && picture_make_dir(picture.dir, err) != 0)
		return -1;
	return picture_make(&picture, err);
}

/* "Phases of model work in acct$render-60" */
static void
put_title(char to[static WORDS_BYTES], const struct plotter *p,
    const char *what, struct text model)
{
	char words[PHASES_MODEL_BYTES];

	if (model.bytes > 60)
		model.bytes = 60;
	snprintf(to, WORDS_BYTES, "%s of %s in %.*s", what,
	    phases_model_words(words, model), (int)p->partition.bytes,
	    p->partition.at);
}

/* ---- how long each node was in each phase ---- */

static void
put_note(char to[static NOTE_BYTES], const struct plotter *p, uint64_t left_out,
    const char *lacks)
{
	char clock[SOURCE_CLOCK_WORDS];
	int used = 0;

	to[0] = '\0';
	if (left_out > 0)
		used = snprintf(to, NOTE_BYTES,
		    " Left out: %" PRIu64 " without %s.", left_out, lacks);
	source_clock_words(clock, source_clock(p->source));
	if (clock[0] != '\0')
		used += snprintf(
		    to + used, NOTE_BYTES - (size_t)used, " Times: %s.", clock);
	if (p->what->start[0] != '\0')
		snprintf(to + used, NOTE_BYTES - (size_t)used, " Shown: %s.",
		    p->what->start);
}

static int
draw_breakdown(struct plotter *p, struct text model, struct err *err)
{
	char name[NAME_ROOM], title[WORDS_BYTES], note[NOTE_BYTES];
	struct wire_query query = query_of(p, model, name);
	struct bands bands = { .title = title,
		.note = note,
		.subject = "Time",
		.total = "the time from their first phase to the end of the "
			 "last" };
	struct phases_read phases;
	int rc = phases_read(&phases, &p->names, p->source, p->partition,
	    &query, PHASES_COMPLETE, err);

	if (rc == 0 && phases.count > 0) {
		put_title(title, p, "Time in the phases", model);
		put_note(note, p, phases.left_out, "an end or a start");
		node_bands_make(&bands, &p->names, &phases);
		rc = draw(p, model, "breakdown", &bands, bands_table,
		    bands_script, err);
		free(bands.rows);
	}
	phases_read_clear(&phases);
	return rc;
}

/* ---- what each node did when ---- */

static int
draw_timeline(struct plotter *p, struct text model, struct err *err)
{
	char title[WORDS_BYTES], note[NOTE_BYTES], *name = memory_text(model);
	struct timeline_plot plot = { .title = title, .note = note };
	struct wire_query query = source_query(1u << RECORD_PHASE);
	struct critical_shown path = { .start_ns = START_UNKNOWN };
	struct phases_timeline timeline;
	int rc;

	plot.path = &path;
	query.node = text_of(p->what->node);
	query.from_ns = p->what->from_ns;
	query.to_ns = p->what->to_ns;
	rc = phases_timeline_read(&timeline, p->source, p->partition, &query,
	    p->what->jobs, name, err);
	if (rc == 0) {
		put_title(title, p, "Phases", model);
		put_note(note, p, timeline.phases.left_out, "a start");
		if (p->what->jobs == NULL)
			rc = critical_shown_read(&path, p->source, p->partition,
			    model, p->what->gap_ns, timeline.last_ns, err);
		if (rc == 0)
			rc = timeline_plot_make(&plot, &timeline, err);
		if (rc == 0)
			rc = draw(p, model, "phases", &plot,
			    timeline_plot_table, timeline_plot_script, err);
		timeline_plot_clear(&plot);
	} else if (timeline.phases.count == 0 &&
		   !source_has_failed(p->source)) {
		rc = 0; /* it has none */
	}
	critical_shown_clear(&path);
	phases_timeline_clear(&timeline);
	free(name);
	return rc;
}

/* ---- how long each phase took ---- */

static void
add_box(
    struct boxes *boxes, struct text name, const struct phases_window_row *row)
{
	double *seconds;

	if (row == NULL || row->count == 0)
		return;
	seconds = memory_zero(row->count, sizeof(*seconds));
	for (uint64_t i = 0; i < row->count; i++)
		seconds[i] = phases_window_seconds(row, i);
	boxes_add(boxes, name, seconds, row->count);
	free(seconds);
}

static int
draw_distribution(struct plotter *p, struct text model, struct err *err)
{
	char name[NAME_ROOM], title[WORDS_BYTES], note[NOTE_BYTES];
	struct wire_query query = query_of(p, model, name);
	struct boxes boxes = { .title = title, .note = note };
	struct phases_window window;
	int rc = phases_window_read(
	    &window, p->source, p->partition, &query, PHASES_OF_POOL, err);

	for (uint32_t i = 0; rc == 0 && i < p->names.phases.count; i++) {
		struct text phase = p->names.phases.names[i];

		if (text_equal(text_before(phase, ':'), model))
			add_box(&boxes, text_after(phase, ':'),
			    phases_window_find(&window, phase));
	}
	if (rc == 0 && boxes.count > 0) {
		put_title(title, p, "Durations of the phases", model);
		boxes_put_note(note, sizeof(note), p->what->start);
		rc = draw(p, model, "distribution", &boxes, boxes_table,
		    boxes_script, err);
	}
	boxes_clear(&boxes);
	phases_window_clear(&window);
	return rc;
}

/* ---- models ---- */

/* The name of a model, also of its file DIR/NAME.conf. */
static struct text
model_name(const char *given)
{
	static const char suffix[] = ".conf";
	const char *slash = strrchr(given, '/');
	struct text name = text_of(slash != NULL ? slash + 1 : given);
	uint32_t more = sizeof(suffix) - 1;

	if (name.bytes > more &&
	    memcmp(name.at + name.bytes - more, suffix, more) == 0)
		name.bytes -= more;
	return name;
}

static int
draw_model(struct plotter *p, struct text model, struct err *err)
{
	int rc = 0;

	if (p->what->timeline)
		rc = draw_timeline(p, model, err);
	if (rc == 0 && p->what->breakdown)
		rc = draw_breakdown(p, model, err);
	if (rc == 0 && p->what->distribution)
		rc = draw_distribution(p, model, err);
	return rc;
}

static int
refuse_model(const struct plotter *p, struct text model, struct err *err)
{
	const struct string_table *models = &p->names.models;
	char shown[SHOWN_BYTES], list[WORDS_BYTES] = "";
	size_t used = 0;

	for (uint32_t i = 0; i < models->count && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used,
		    "%s%.*s", i > 0 ? ", " : "", (int)models->names[i].bytes,
		    models->names[i].at);
	return err_set(err,
	    "no model %s in %s, which has %s; the aggregator reads models from "
	    "its --models",
	    text_quote(shown, sizeof(shown), model), source_name(p->source),
	    models->count > 0 ? list : "none");
}

int
plot_phases(struct source *source, struct text partition,
    const struct plot_phases *what, const struct picture *picture,
    struct err *err)
{
	struct plotter p = { source, partition, what, picture, .drawn = 0 };
	bool in_time =
	    what->from_ns != TIME_MIN_NS || what->to_ns != TIME_MAX_NS;
	struct text model = text_of("");
	char shown[SHOWN_BYTES], words[PHASES_MODEL_BYTES];
	uint32_t number;
	int rc = phases_names_read(&p.names, source, partition, err);

	if (rc == 0 && what->model != NULL) {
		model = model_name(what->model);
		rc = string_table_find(&p.names.models, model, &number)
			 ? draw_model(&p, model, err)
			 : refuse_model(&p, model, err);
	} else if (rc == 0) {
		for (uint32_t i = 0; rc == 0 && i < p.names.models.count; i++)
			rc = draw_model(&p, p.names.models.names[i], err);
	}
	if (rc == 0 && p.drawn == 0)
		rc = err_set(err, "no %sphases%s%s%s of partition %s in %s%s",
		    what->timeline ? "" : "complete ",
		    what->model != NULL ? " of " : "",
		    what->model != NULL ? phases_model_words(words, model) : "",
		    in_time ? " that begin in that time" : "",
		    text_quote(shown, sizeof(shown), partition),
		    source_name(source),
		    in_time || what->model != NULL ? "" : PHASE_ROWS_HINT);
	phases_names_clear(&p.names);
	return rc;
}
