/*
 * now_run_groups - how many test runs of each group are in which state.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/nodes/run_groups.h"

#include <stdio.h>
#include <stdlib.h>

#include "exporters/runs/groups.h"
#include "proto/base/memory.h"

const char *const run_groups_states[RUN_GROUPS_STATES] = {
	[RUN_QUEUED] = "queued",
	[RUN_ONGOING] = "ongoing",
	[RUN_FINISHED] = "finished",
	[RUN_STATES] = "error",
};

void
run_groups_init(struct run_groups *groups)
{
	*groups = (struct run_groups){ .count = 0 };
	string_table_init(&groups->keys);
}

void
run_groups_clear(struct run_groups *groups)
{
	free(groups->at);
	string_table_clear(&groups->keys);
	*groups = (struct run_groups){ .count = 0 };
}

/* The groups of one model. */
struct reading {
	struct run_groups *groups;
	struct text model;
};

static struct run_group *
group_of(struct run_groups *groups, struct text model, struct text group)
{
	char key[2 * NAME_BYTES_MAX + 2];
	uint32_t before = groups->keys.count, number;
	int bytes = snprintf(key, sizeof(key), "%.*s%c%.*s", (int)model.bytes,
	    model.at, '\0', (int)group.bytes, group.at);
	struct text name = { key, (uint32_t)bytes < sizeof(key)
				      ? (uint32_t)bytes
				      : (uint32_t)sizeof(key) - 1 };

	number = string_table_add(&groups->keys, name);
	groups->at =
	    memory_grow(groups->at, &groups->room, number, sizeof(*groups->at));
	if (number == before) {
		name = groups->keys.names[number];
		groups->at[number] = (struct run_group){
			.model = { name.at, model.bytes },
			.group = { name.at + model.bytes + 1,
			    name.bytes - model.bytes - 1 },
		};
		groups->count++;
	}
	return &groups->at[number];
}

static int
add(void *arg, const struct runs_group *from, struct err *err)
{
	struct reading *reading = arg;
	struct run_groups *groups = reading->groups;
	struct text name = from->known ? from->name : text_of("(unknown)");
	struct run_group *group;

	(void)err;
	if (groups->count >= RUN_GROUPS_MAX)
		name = text_of(RUNS_OTHERS);
	group = group_of(groups, reading->model, name);
	for (int i = 0; i < RUN_STATES; i++)
		group->runs[i] += (uint64_t)from->state[i];
	group->runs[RUN_STATES] += (uint64_t)from->errors;
	return 0;
}

/* The phases of a model may be of runs although its runs are none of ours. */
static int
read_model(struct run_groups *groups, struct source *source,
    struct text partition, const char *model, struct err *err)
{
	struct runs_options options = RUNS_DEFAULT;
	struct reading reading = { groups, text_of(model) };
	struct runs runs;
	bool had_failed = source_has_failed(source);
	uint32_t count;
	int rc;

	options.model = model;
	rc = runs_open(&runs, source, partition, &options, err);
	if (rc == 0)
		rc = runs_groups_each(&runs, (struct text){ NULL, 0 }, add,
		    &reading, &count, err);
	else if (had_failed || !source_has_failed(source))
		rc = 0; /* it has no section run */
	runs_clear(&runs);
	return rc;
}

/* Is the phase of a run, and has one begun? */
static bool
is_of_run(const struct phase_row *row)
{
	struct text pairs = row->attributes;
	struct record_attribute a;

	while (record_next_attribute(&pairs, &a))
		if (text_equal(a.key, text_of("run")))
			return row->numbers[PHASE_COUNT] > 0 ||
			       row->numbers[PHASE_OPEN_STARTS] > 0 ||
			       row->numbers[PHASE_OPEN_ENDS] > 0;
	return false;
}

int
run_groups_read(struct run_groups *groups, struct source *source,
    struct text partition, const struct phase_row *rows, uint32_t count,
    struct err *err)
{
	struct string_table models;
	int rc = 0;

	string_table_init(&models);
	for (uint32_t i = 0; i < count; i++) {
		struct text name = rows[i].phase;
		uint32_t colon = 0;

		while (colon < name.bytes && name.at[colon] != ':')
			colon++;
		if (is_of_run(&rows[i]))
			(void)string_table_add(
			    &models, (struct text){ name.at, colon });
	}
	for (uint32_t i = 0; rc == 0 && i < models.count; i++) {
		char model[NAME_BYTES_MAX + 1];

		snprintf(model, sizeof(model), "%.*s",
		    (int)models.names[i].bytes, models.names[i].at);
		rc = read_model(groups, source, partition, model, err);
	}
	string_table_clear(&models);
	return rc;
}
