/*
 * partitions - the partitions of the archive.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/partitions.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/question.h"
#include "aggregator/archive/rows/typed.h"
#include "aggregator/tables/dictionary.h"
#include "proto/base/memory.h"

struct reading {
	struct partitions *to;
	const char *pattern;
};

static void
add(struct partitions *to, struct text name)
{
	MEMORY_GROW(to->at, to->room, to->count);
	to->at[to->count] = (struct partitions_item){ typed_hash(name), "" };
	memcpy(to->at[to->count++].name, name.at, name.bytes);
}

static int
compare(const void *a, const void *b)
{
	const struct partitions_item *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Each once: every replica has them. */
static void
sort(struct partitions *partitions)
{
	struct partitions_item *at = partitions->at;
	uint32_t count = 0;

	if (partitions->count > 1)
		qsort(at, partitions->count, sizeof(*at), compare);
	for (uint32_t i = 0; i < partitions->count; i++)
		if (count == 0 || compare(&at[i], &at[count - 1]) != 0)
			at[count++] = at[i];
	partitions->count = count;
}

static int
read_replica(void *arg, const struct question *question, struct err *err)
{
	const struct reading *reading = arg;
	char room[NAME_BYTES_MAX + 1], place[QUESTION_PLACE_BYTES];
	struct text answer, line;

	if (question_ask(question, &answer, err,
		"SELECT hex(name) FROM %s.owners WHERE part != 0 GROUP BY name",
		clickhouse_database(question->client)) != 0)
		return -1;
	while (text_next_line(&answer, &line)) {
		struct text name = { room, line.bytes / 2 };

		if (line.bytes % 2 != 0 || name.bytes > NAME_BYTES_MAX ||
		    !text_unhex((unsigned char *)room, name.bytes, line) ||
		    text_check_name(name) != TEXT_OK)
			return err_set(err,
			    "archive: %s has a malformed row in table owners",
			    question_place(question, place, sizeof(place)));
		if (reading->pattern != NULL &&
		    !text_match_partition(text_of(reading->pattern), name))
			continue;
		add(reading->to, name);
	}
	sort(reading->to);
	return reading->to->count > DICTIONARY_PARTITIONS_MAX
		   ? err_set(err, "archive: too many partitions")
		   : 0;
}

int
partitions_read(struct partitions *partitions, struct clickhouse *client,
    const char *pattern, struct err *err)
{
	struct reading reading = { partitions, pattern };

	return question_each(client, read_replica, &reading, err);
}

void
partitions_clear(struct partitions *partitions)
{
	free(partitions->at);
	*partitions = (struct partitions){ .at = NULL };
}
