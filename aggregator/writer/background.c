/*
 * background - merge parts and compact hours while the indexer works.
 *
 * Reading, merging and encoding take as much time as indexing.  A worker does
 * that with a snapshot, on a core of its own, while the writer's thread indexes
 * what is new; the writer's thread then puts the result.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/writer_private.h"

static void
plan(void *arg)
{
	struct writer *writer = arg;
	struct background *background = &writer->background;

	background->rc = background->work == BACKGROUND_MERGE
			     ? part_merge_plan(writer, false, &background->err)
			     : compact_plan(writer, &background->err);
}

void
background_open(struct writer *writer)
{
	writer->background = (struct background){ .work = BACKGROUND_NONE };
	writer->background.worker = worker_new(plan, writer);
}

void
background_close(struct writer *writer)
{
	worker_free(&writer->background.worker);
}

/* In turn, if both are due. */
static enum background_work
choose(struct writer *writer)
{
	bool compacts = writer->options.compact_after_ns > 0;

	if (writer->background.last == BACKGROUND_MERGE && compacts &&
	    compact_is_due(writer))
		return BACKGROUND_COMPACT;
	if (part_merge_is_due(writer))
		return BACKGROUND_MERGE;
	return compacts && compact_is_due(writer) ? BACKGROUND_COMPACT
						  : BACKGROUND_NONE;
}

static enum db_result
put(struct writer *writer, struct err *err)
{
	struct background *background = &writer->background;
	enum background_work work = background->work;

	background->last = work;
	background->work = BACKGROUND_NONE;
	if (background->rc != 0) {
		*err = background->err;
		return DB_BROKEN;
	}
	return work == BACKGROUND_MERGE ? part_merge_put(writer, err)
					: compact_put(writer, err);
}

enum db_result
background_step(struct writer *writer, bool more, bool *again, struct err *err)
{
	struct background *background = &writer->background;
	enum db_result result;

	*again = true;
	if (background->work != BACKGROUND_NONE) {
		if (more && !worker_is_idle(background->worker))
			return DB_OK;
		worker_await(background->worker);
		result = put(writer, err);
		if (result != DB_OK)
			return result;
	}
	background->work = choose(writer);
	*again = background->work != BACKGROUND_NONE;
	if (*again)
		worker_begin(background->worker);
	return DB_OK;
}
