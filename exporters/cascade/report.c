/*
 * cascade_report - a pool's startup as a report.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/report.h"

#include <stdlib.h>
#include <string.h>

#include "exporters/cascade/cascade_plot.h"
#include "exporters/source/pool.h"
#include "proto/base/memory.h"
#include "proto/format/csv.h"
#include "proto/json/json.h"
#include "proto/format/table.h"
#include "proto/os/log.h"

enum {
	WORDS_BYTES = 4096,
	WARNINGS_MAX = 10, /* more lines would push the rest off the screen */
};

/* ---- incomplete nodes ---- */

struct words {
	char *to;
	size_t used, room;
};

static void
add_word(void *arg, const char *event, struct text image)
{
	struct words *words = arg;
	char shown[300] = "";
	int n;

	if (image.at != NULL)
		text_quote(shown, sizeof(shown), image);
	n = snprintf(words->to + words->used, words->room - words->used,
	    "%s%s%s%s", words->used ? " " : "", event,
	    image.at != NULL ? ":" : "", shown);
	words->used += (size_t)n;
	if (words->used >= words->room)
		words->used = words->room - 1;
}

const char *
cascade_missing_words(const struct cascade *cascade,
    const struct cascade_node *node, char *to, size_t room)
{
	struct words words = { to, 0, room };

	to[0] = '\0';
	cascade_each_missing(cascade, node, add_word, &words);
	return to;
}

static bool
lacks(const struct cascade_node *node)
{
	return node->missing != 0 || node->unmatched != 0;
}

static uint32_t
count_lacking(const struct cascade *cascade)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < cascade->node_count; i++)
		count += lacks(&cascade->nodes[i]);
	return count;
}

bool
cascade_has_missing(const struct cascade *cascade)
{
	return count_lacking(cascade) > 0;
}

int
cascade_refuse(const struct cascade *cascade, struct err *err)
{
	return err_set(err,
	    "%u of %u nodes lack events or have unmatched ones (--strict)",
	    count_lacking(cascade), cascade->node_count);
}

void
cascade_warn_missing(const struct cascade *cascade)
{
	char words[WORDS_BYTES / 8], name[300];
	uint32_t nodes = 0;

	for (uint32_t i = 0; i < cascade->node_count; i++) {
		const struct cascade_node *node = &cascade->nodes[i];

		if (!lacks(node))
			continue;
		if (++nodes > WARNINGS_MAX)
			continue;
		text_quote(name, sizeof(name), node->name);
		cascade_missing_words(cascade, node, words, sizeof(words));
		log_warn("node %s %s: %s", name,
		    node->missing
			? "is incomplete (missing or unmatched events)"
			: "has unmatched events",
		    words);
	}
	if (nodes > WARNINGS_MAX)
		log_warn("and %u more such nodes; poolscope-stats cascade "
			 "--format json lists them all",
		    nodes - WARNINGS_MAX);
	if (cascade->unread_sizes > 0)
		log_warn("unreadable image sizes: %u; they count as unknown",
		    cascade->unread_sizes);
}

/* ---- JSON ---- */

/* "phase:image", which may be as long as an attribute; a view of `*at`, which
 * the caller frees. */
static struct text
join(char **at, const char *phase, struct text image)
{
	size_t bytes = strlen(phase);

	*at = memory_alloc(bytes + 1 + image.bytes);
	memcpy(*at, phase, bytes);
	if (image.at != NULL) {
		(*at)[bytes++] = ':';
		memcpy(*at + bytes, image.at, image.bytes);
		bytes += image.bytes;
	}
	return (struct text){ *at, (uint32_t)bytes };
}

static void
put_missing(void *arg, const char *event, struct text image)
{
	char *text;

	json_text(arg, join(&text, event, image));
	free(text);
}

static void
put_once(struct json *json, const struct cascade_node *node)
{
	for (int phase = 0; phase < CASCADE_ONCE; phase++) {
		double seconds;
		bool absent, known = cascade_once(node,
				 (enum cascade_phase)phase, &seconds, &absent);

		json_name(json, cascade_names[phase].key);
		if (!known)
			json_null(json);
		else if (absent)
			json_int(json, 0);
		else
			json_float(json, seconds);
	}
}

static void
put_image_key(struct json *json, const char *phase, struct text image)
{
	char *text;

	json_key(json, join(&text, phase, image));
	free(text);
}

static void
put_images(struct json *json, const struct cascade *cascade,
    const struct cascade_node *node)
{
	for (int phase = CASCADE_ONCE; phase < CASCADE_PHASES; phase++) {
		uint32_t count;
		const struct cascade_pair *p = cascade_run(
		    cascade, node, (enum cascade_phase)phase, &count);

		for (; count > 0; count--, p++) {
			bool known = p->has_begin && p->has_end;

			/* A download that was never loaded has no time. */
			if (p->repeated ||
			    (!known &&
				(phase == CASCADE_TORRENT || !p->has_begin)))
				continue;
			put_image_key(json, cascade_names[phase].key,
			    cascade->images.names[p->image]);
			if (known)
				json_float(json, p->seconds);
			else
				json_null(json);
		}
	}
}

static void
put_nodes(struct json *json, const struct cascade *cascade)
{
	json_add_object(json, "nodes");
	for (uint32_t i = 0; i < cascade->node_count; i++) {
		const struct cascade_node *node = &cascade->nodes[i];
		int64_t us;

		json_key(json, node->name);
		json_begin_object(json);
		json_name(json, "start");
		if (cascade_start_us(node, &us))
			json_float(json, cascade_seconds(us));
		else
			json_null(json);
		json_add_object(json, "timing");
		put_once(json, node);
		put_images(json, cascade, node);
		json_end_object(json);
		json_end_object(json);
	}
	json_end_object(json);
}

static void
put_lists(struct json *json, const struct cascade *cascade)
{
	json_add_object(json, "incomplete");
	for (uint32_t i = 0; i < cascade->node_count; i++) {
		const struct cascade_node *node = &cascade->nodes[i];

		if (!lacks(node))
			continue;
		json_key(json, node->name);
		json_begin_array(json);
		cascade_each_missing(cascade, node, put_missing, json);
		json_end_array(json);
	}
	json_end_object(json);
	json_add_array(json, "node_order");
	for (uint32_t i = 0; i < cascade->node_count; i++)
		json_text(json, cascade->nodes[i].name);
	json_end_array(json);
	json_add_object(json, "sizes");
	for (uint32_t i = 0; i < cascade->images.count; i++) {
		if (cascade->image_bytes[i] == CASCADE_NO_SIZE)
			continue;
		json_key(json, cascade->images.names[i]);
		json_uint(json, cascade->image_bytes[i]);
	}
	json_end_object(json);
}

static void
put_text_or_null(struct json *json, const char *name, struct text t)
{
	json_name(json, name);
	if (t.at != NULL)
		json_text(json, t);
	else
		json_null(json);
}

static void
put_total(struct json *json, const char *name, double total, uint32_t nodes)
{
	json_name(json, name);
	if (nodes == 0)
		json_null(json);
	else
		json_float(json, total / nodes);
}

void
cascade_report_json(const struct cascade *cascade, FILE *file)
{
	uint32_t complete = cascade->complete, one = complete ? 1 : 0;
	struct json json;

	json_init(&json, file, JSON_INDENTED | JSON_STRICT);
	json_begin_object(&json);
	put_text_or_null(&json, "offer", cascade->offer);
	put_text_or_null(&json, "sku", cascade->sku);
	put_total(&json, "nodeready_variance", cascade->start_spread, one);
	put_total(&json, "total_gr", cascade->total_global, one);
	put_total(&json, "avg_gr", cascade->total_global, complete);
	put_total(&json, "total_acq", cascade->total_acquisition, one);
	put_total(&json, "avg_acq", cascade->total_acquisition, complete);
	put_lists(&json, cascade);
	put_nodes(&json, cascade);
	if (cascade->clock[0] != '\0') {
		json_add_string(&json, "clock", cascade->clock);
	}
	json_end_object(&json);
	putc('\n', file);
}

/* ---- CSV ---- */

static void
put_csv_node(struct csv *csv, const struct cascade *cascade,
    const struct cascade_node *node)
{
	char words[WORDS_BYTES];
	int64_t us;

	csv_text(csv, node->name);
	if (cascade_start_us(node, &us))
		csv_float(csv, cascade_seconds(us));
	else
		csv_none(csv);
	for (int phase = 0; phase < CASCADE_ONCE; phase++) {
		double seconds;
		bool absent;

		if (cascade_once(
			node, (enum cascade_phase)phase, &seconds, &absent))
			csv_float(csv, seconds);
		else
			csv_none(csv);
	}
	for (int phase = CASCADE_ONCE; phase < CASCADE_PHASES; phase++)
		csv_float(csv, cascade_images_total(
				   cascade, node, (enum cascade_phase)phase));
	csv_string(
	    csv, cascade_missing_words(cascade, node, words, sizeof(words)));
	csv_end_row(csv);
}

void
cascade_report_csv(const struct cascade *cascade, FILE *file)
{
	struct csv csv = { .file = file };

	csv_titles(&csv, "node start");
	for (int phase = 0; phase < CASCADE_PHASES; phase++)
		csv_string(&csv, cascade_names[phase].key);
	csv_string(&csv, "incomplete");
	csv_end_row(&csv);
	for (uint32_t i = 0; i < cascade->node_count; i++)
		put_csv_node(&csv, cascade, &cascade->nodes[i]);
}
