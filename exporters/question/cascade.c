/*
 * question_cascade - the startup of a pool: a row for each node, and of each
 * node its images and the events that it lacks.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <math.h>

#include "exporters/cascade/cascade.h"
#include "exporters/cascade/plot.h"
#include "exporters/question/question.h"

struct row {
	struct text node;
	int64_t start;
	double after, once[CASCADE_ONCE], images[CASCADE_PER_IMAGE];
	uint64_t incomplete;
};

#define ONCE(phase) .unit = "s", ANSWER_AT_NUMBER(struct row, once[phase])
#define IMAGES(phase)                                                          \
	.unit = "s", ANSWER_AT_NUMBER(struct row, images[(phase)-CASCADE_ONCE])

static const struct answer_column columns[] = {
	{ "node", "NODE", ANSWER_AT_TEXT(struct row, node), "the node" },
	{ "start", NULL, ANSWER_AT_TIME(struct row, start),
	    "when its preparation began" },
	{ "after", "START", ANSWER_AT_NUMBER(struct row, after),
	    "the same, after the first node's", "s" },
	{ "nodeprep", NULL, ONCE(CASCADE_NODEPREP), "its preparation" },
	{ "docker_install", "DOCKER", ONCE(CASCADE_DOCKER),
	    "preparation up to the private registry" },
	{ "private_registry_setup", "REGISTRY", ONCE(CASCADE_REGISTRY),
	    "the private registry; 0: the pool has none",
	    .traits = ANSWER_SPARE },
	{ "docker_shipyard_container_pull", "HELPER", ONCE(CASCADE_SHIPYARD),
	    "the pull of the helper image; 0: the pool has none",
	    .traits = ANSWER_SPARE },
	{ "global_resources_loaded", "GLOBAL", ONCE(CASCADE_GLOBAL),
	    "all global resources" },
	{ "pull", "PULL", IMAGES(CASCADE_PULL),
	    "pulls of its images, together" },
	{ "save", "SAVE", IMAGES(CASCADE_SAVE), "saves of its images, together",
	    .traits = ANSWER_SPARE },
	{ "load", "LOAD", IMAGES(CASCADE_LOAD),
	    "loads of its images, together" },
	{ "torrent", "TORRENT", IMAGES(CASCADE_TORRENT),
	    "downloads of its images from other nodes, together" },
	{ "incomplete", NULL, ANSWER_AT_COUNT(struct row, incomplete),
	    "how many events it lacks, or has without a partner" },
	{ .key = NULL },
};

struct image_row {
	struct text node, phase, image;
	double seconds;
};

static const struct answer_column image_columns[] = {
	{ "node", "NODE", ANSWER_AT_TEXT(struct image_row, node), "the node" },
	{ "phase", "PHASE", ANSWER_AT_TEXT(struct image_row, phase),
	    "pull, save, load or torrent" },
	{ "image", "IMAGE", ANSWER_AT_TEXT(struct image_row, image),
	    "the image" },
	{ "seconds", "SECONDS", ANSWER_AT_NUMBER(struct image_row, seconds),
	    "how long it took; unknown: its end is missing", "s" },
	{ .key = NULL },
};

struct size_row {
	struct text image;
	double bytes;
};

static const struct answer_column size_columns[] = {
	{ "image", "IMAGE", ANSWER_AT_TEXT(struct size_row, image),
	    "the image" },
	{ "bytes", "SIZE", ANSWER_AT_BYTES(struct size_row, bytes),
	    "its size" },
	{ .key = NULL },
};

struct lacking_row {
	struct text node, event, image;
};

static const struct answer_column lacking_columns[] = {
	{ "node", "NODE", ANSWER_AT_TEXT(struct lacking_row, node),
	    "the node" },
	{ "event", "EVENT", ANSWER_AT_TEXT(struct lacking_row, event),
	    "the event that is missing or, with an image, has no partner" },
	{ "image", "IMAGE", ANSWER_AT_TEXT(struct lacking_row, image),
	    "its image" },
	{ .key = NULL },
};

#define TOTAL(key, help)                                                       \
	{                                                                      \
		key, ANSWER_HEAD(ANSWER_NUMBER), help, "s"                     \
	}

static const struct answer_column head[] = {
	{ "offer", ANSWER_HEAD(ANSWER_TEXT),
	    "the offer of the node that started first" },
	{ "sku", ANSWER_HEAD(ANSWER_TEXT), "its SKU" },
	{ "nodes", ANSWER_HEAD(ANSWER_COUNT), "how many nodes started" },
	{ "nodes_complete", ANSWER_HEAD(ANSWER_COUNT),
	    "how many lack no event; the sums are of them" },
	TOTAL("nodeready_variance", "the last start after the first"),
	TOTAL("total_gr", "global resources of all nodes"),
	TOTAL("avg_gr", "global resources, the mean"),
	TOTAL("total_acq", "pull, torrent and load of all nodes"),
	TOTAL("avg_acq", "pull, torrent and load, the mean"),
	QUESTION_START_MEMBERS,
	QUESTION_CLOCK_MEMBER,
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "nodes", columns },
	{ "images", image_columns }, { "sizes", size_columns },
	{ "incomplete", lacking_columns }, { "head", head }, { .name = NULL } };

/* ---- the head ---- */

static void
put_head(
    const struct cascade *cascade, struct text partition, struct answer *answer)
{
	const char *clock = cascade->clock[0] != '\0' ? cascade->clock : NULL;
	double n = cascade->complete > 0 ? cascade->complete : NAN;
	double one = cascade->complete > 0 ? 1 : NAN;
	char title[512];

	cascade_put_title(cascade, partition, title, sizeof(title));
	answer_title(answer,
	    "startup of %s: %" PRIu32 " node%s, %" PRIu32
	    " complete; seconds%s%s",
	    title, cascade->node_count, cascade->node_count == 1 ? "" : "s",
	    cascade->complete, clock != NULL ? "; " : "",
	    clock != NULL ? clock : "");
	answer_head(answer, "offer", answer_text(cascade->offer));
	answer_head(answer, "sku", answer_text(cascade->sku));
	answer_head(answer, "nodes", answer_count(cascade->node_count));
	answer_head(answer, "nodes_complete", answer_count(cascade->complete));
	answer_head(answer, "nodeready_variance",
	    answer_number(one * cascade->start_spread));
	answer_head(
	    answer, "total_gr", answer_number(one * cascade->total_global));
	answer_head(answer, "avg_gr", answer_number(cascade->total_global / n));
	answer_head(answer, "total_acq",
	    answer_number(one * cascade->total_acquisition));
	answer_head(
	    answer, "avg_acq", answer_number(cascade->total_acquisition / n));
	answer_head(answer, "clock", answer_string(clock));
}

/* ---- rows ---- */

/* Of a node without such a phase 0; unknown if none of them is known. */
static double
total_of(const struct cascade *cascade, const struct cascade_node *node,
    enum cascade_phase phase)
{
	uint32_t count;
	const struct cascade_pair *p =
	    cascade_run(cascade, node, phase, &count);
	bool is_known = count == 0;

	for (; count > 0; count--, p++)
		is_known = is_known || (p->has_begin && p->has_end);
	return is_known ? cascade_images_total(cascade, node, phase) : NAN;
}

static void
count_one(void *arg, const char *event, struct text image)
{
	uint64_t *count = arg;

	(void)event;
	(void)image;
	*count += 1;
}

static void
put_node(const struct cascade *cascade, const struct cascade_node *node,
    struct answer *answer)
{
	struct row row = {
		.node = node->name, .start = ANSWER_NO_NS, .after = NAN
	};
	int64_t us, first_us;

	if (cascade_start_us(node, &us)) {
		/* Nodes are sorted by start: the first one started first. */
		cascade_start_us(&cascade->nodes[0], &first_us);
		row.after = (double)(us - first_us) / 1e6;
		row.start = node->once[CASCADE_NODEPREP].begin_ns;
	}
	for (int phase = 0; phase < CASCADE_ONCE; phase++) {
		double seconds;
		bool absent;

		row.once[phase] = cascade_once(node, (enum cascade_phase)phase,
				      &seconds, &absent)
				      ? seconds
				      : NAN;
	}
	for (int phase = CASCADE_ONCE; phase < CASCADE_PHASES; phase++)
		row.images[phase - CASCADE_ONCE] =
		    total_of(cascade, node, (enum cascade_phase)phase);
	cascade_each_missing(cascade, node, count_one, &row.incomplete);
	answer_row(answer, &row, NULL);
}

static void
put_images(const struct cascade *cascade, const struct cascade_node *node,
    enum cascade_phase phase, struct answer *answer)
{
	uint32_t count;
	const struct cascade_pair *p =
	    cascade_run(cascade, node, phase, &count);

	for (; count > 0; count--, p++) {
		bool known = p->has_begin && p->has_end;
		struct image_row row = { .node = node->name,
			.phase = text_of(cascade_names[phase].key),
			.image = cascade->images.names[p->image],
			.seconds = known ? p->seconds : NAN };

		/* A download that was never loaded has no time. */
		if (!p->repeated &&
		    (known || (phase != CASCADE_TORRENT && p->has_begin)))
			answer_row(answer, &row, NULL);
	}
}

struct lacking {
	struct answer *answer;
	struct text node;
};

static void
put_lacking(void *arg, const char *event, struct text image)
{
	const struct lacking *lacking = arg;

	answer_row(lacking->answer,
	    &(struct lacking_row){ lacking->node, text_of(event), image },
	    NULL);
}

/* People see the sums below. */
static void
note_sums(const struct cascade *cascade, struct answer *answer)
{
	uint32_t n = cascade->complete;

	if (n > 0 && answer_is_for_people(answer))
		answer_note(answer, "sums", n,
		    "first to last start   %12.3f s\n"
		    "global resources      %12.3f s, mean %.3f s per node\n"
		    "pull + torrent + load %12.3f s, mean %.3f s per node",
		    cascade->start_spread, cascade->total_global,
		    cascade->total_global / n, cascade->total_acquisition,
		    cascade->total_acquisition / n);
	if (cascade->unread_sizes > 0)
		answer_note(answer, "unread_sizes", cascade->unread_sizes,
		    "unreadable image sizes: %" PRIu32
		    "; they count as unknown",
		    cascade->unread_sizes);
}

static void
put(const struct cascade *cascade, struct text partition, struct answer *answer)
{
	put_head(cascade, partition, answer);
	for (uint32_t i = 0; i < cascade->node_count; i++)
		put_node(cascade, &cascade->nodes[i], answer);
	/* Of many nodes they are more than people read. */
	if (!answer_is_for_people(answer)) {
		answer_begin_table(answer, "images");
		for (uint32_t i = 0; i < cascade->node_count; i++)
			for (int k = CASCADE_ONCE; k < CASCADE_PHASES; k++)
				put_images(cascade, &cascade->nodes[i],
				    (enum cascade_phase)k, answer);
	}
	answer_begin_table(answer, "sizes");
	for (uint32_t i = 0; i < cascade->images.count; i++)
		if (cascade->image_bytes[i] != CASCADE_NO_SIZE)
			answer_row(answer,
			    &(struct size_row){ cascade->images.names[i],
				(double)cascade->image_bytes[i] },
			    NULL);
	answer_begin_table(answer, "incomplete");
	for (uint32_t i = 0; i < cascade->node_count; i++)
		cascade_each_missing(cascade, &cascade->nodes[i], put_lacking,
		    &(struct lacking){ answer, cascade->nodes[i].name });
	note_sums(cascade, answer);
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	const struct cascade_window window = {
		.from_ns = asked->values->window.from_ns,
		.to_ns = asked->values->window.to_ns,
		.is_start = asked->is_of_start
	};
	struct cascade cascade;
	int rc;

	cascade_init(&cascade);
	rc = cascade_read(
	    &cascade, asked->source, asked->partition, &window, err);
	if (rc == 0 && asked->values->strict && cascade_has_missing(&cascade))
		rc = cascade_refuse(&cascade, err);
	if (rc == 0)
		put(&cascade, asked->partition, answer);
	cascade_clear(&cascade);
	return rc;
}

const struct question question_cascade = { .word = "cascade",
	.summary = "the startup of a pool's nodes, step by step",
	.options = "strict start gap from to sort top columns",
	.examples =
	    "poolscope stats cascade -p 'acct$pool'\n"
	    "poolscope stats cascade --sort global_resources_loaded --top 5\n",
	.tables = tables,
	.is_of_start = true,
	.kinds = 1u << RECORD_EVENT,
	.ask = ask };
