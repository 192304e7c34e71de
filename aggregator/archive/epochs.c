/*
 * epochs - the partitions of the archive, and how far each one counts.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/epochs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/commits.h"
#include "aggregator/archive/question.h"
#include "aggregator/archive/rows/typed.h"
#include "aggregator/tables/dictionary.h"
#include "proto/base/memory.h"
#include "proto/base/number.h"

enum { CLAIMS_MAX = 1 << 17 };

/* ---- rows of table owners ---- */

enum { OF_PART, OF_EPOCH, OF_WHO, OF_UNTIL, OF_NUMBERS };

/* Four numbers and the name in hexadecimal digits. */
static bool
read_line(struct text line, uint64_t row[OF_NUMBERS], struct text *name,
    char room[static NAME_BYTES_MAX + 1])
{
	struct err err = { .text = "" };
	struct text digits;

	for (int i = 0; i < OF_NUMBERS; i++)
		if (number_parse_u64(text_next_word(&line), &row[i], &err) != 0)
			return false;
	digits = text_next_word(&line);
	if (line.bytes != 0 || digits.bytes % 2 != 0 ||
	    digits.bytes / 2 > NAME_BYTES_MAX ||
	    !text_unhex((unsigned char *)room, digits.bytes / 2, digits))
		return false;
	*name = (struct text){ room, digits.bytes / 2 };
	room[name->bytes] = '\0';
	return row[OF_EPOCH] > 0 && row[OF_EPOCH] < UINT16_MAX &&
	       text_check_name(*name) == TEXT_OK &&
	       typed_hash(*name) == row[OF_PART];
}

static void
add_epoch(struct epochs *claims, const uint64_t row[OF_NUMBERS])
{
	struct epoch *epoch;

	for (uint32_t i = 0; i < claims->epochs; i++) {
		epoch = &claims->epoch[i];
		if (epoch->part != row[OF_PART] ||
		    epoch->epoch != row[OF_EPOCH] || epoch->who != row[OF_WHO])
			continue;
		if (epoch->until < row[OF_UNTIL])
			epoch->until = row[OF_UNTIL];
		return;
	}
	claims->epoch = memory_grow(claims->epoch, &claims->epoch_room,
	    claims->epochs, sizeof(*claims->epoch));
	claims->epoch[claims->epochs++] = (struct epoch){
		.part = row[OF_PART],
		.epoch = (uint32_t)row[OF_EPOCH],
		.who = row[OF_WHO],
		.until = row[OF_UNTIL],
	};
}

static void
add_partition(struct epochs *claims, uint64_t part, struct text name)
{
	struct epochs_partition *partition;

	for (uint32_t i = 0; i < claims->partitions; i++)
		if (claims->partition[i].part == part)
			return;
	claims->partition =
	    memory_grow(claims->partition, &claims->partition_room,
		claims->partitions, sizeof(*claims->partition));
	partition = &claims->partition[claims->partitions++];
	*partition = (struct epochs_partition){ .part = part };
	memcpy(partition->name, name.at, name.bytes);
}

struct reading {
	struct epochs *claims;
	const char *pattern;
};

static int
read_replica(void *arg, const struct question *question, struct err *err)
{
	const struct reading *reading = arg;
	struct epochs *claims = reading->claims;
	const char *pattern = reading->pattern;
	char room[NAME_BYTES_MAX + 1], place[QUESTION_PLACE_BYTES];
	struct text answer, line, name;
	uint64_t row[OF_NUMBERS];

	if (question_ask(question, &answer, err,
		"SELECT part, epoch, who, max(until), hex(any(name)) "
		"FROM %s.owners WHERE part != 0 GROUP BY part, epoch, who",
		clickhouse_database(question->client)) != 0)
		return -1;
	while (text_next_line(&answer, &line)) {
		if (!read_line(line, row, &name, room))
			return err_set(err,
			    "archive: %s has a malformed row in table owners",
			    question_place(question, place, sizeof(place)));
		if (pattern != NULL &&
		    !text_match_partition(text_of(pattern), name))
			continue;
		if (claims->epochs == CLAIMS_MAX ||
		    claims->partitions == DICTIONARY_PARTITIONS_MAX)
			return err_set(err, "archive: too many partitions");
		add_epoch(claims, row);
		add_partition(claims, row[OF_PART], name);
	}
	return 0;
}

static int
read_owners(struct epochs *claims, struct clickhouse *client,
    const char *pattern, struct err *err)
{
	struct reading reading = { claims, pattern };
	unsigned shards = clickhouse_cluster(client)->shards;

	for (unsigned s = 0; s < shards; s++)
		if (question_shard(client, s, read_replica, &reading, err) != 0)
			return err_prefix(
			    err, "archive: no replica of shard %u", s + 1);
	return 0;
}

/* ---- how far they count ---- */

static void
set_bound(struct epoch *epoch, const struct pass_place *place)
{
	uint64_t pos =
	    place->change == 0 ? 0 : pass_position(epoch->epoch, place->change);

	epoch->is_open = epoch->until == 0;
	if (epoch->is_open || epoch->until > pos)
		epoch->until = pos;
}

static int
compare_numbers(const void *a, const void *b)
{
	const struct epoch *x = a, *y = b;

	return (x->epoch > y->epoch) - (x->epoch < y->epoch);
}

static int
compare_epochs(const void *a, const void *b)
{
	const struct epoch *x = a, *y = b;

	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return compare_numbers(a, b);
}

static int
compare_names(const void *a, const void *b)
{
	const struct epochs_partition *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Each epoch has one. */
static int
read_commits(struct epochs *claims, struct clickhouse *client, struct err *err)
{
	struct pass_place place;
	uint32_t epoch = 0;

	if (claims->epochs > 1)
		qsort(claims->epoch, claims->epochs, sizeof(*claims->epoch),
		    compare_numbers);
	for (uint32_t i = 0; i < claims->epochs; i++) {
		if (claims->epoch[i].epoch != epoch) {
			epoch = claims->epoch[i].epoch;
			if (commits_read(client, epoch, &place, err) != 0)
				return err_prefix(err, "archive: a commit");
		}
		set_bound(&claims->epoch[i], &place);
	}
	return 0;
}

static void
connect_epochs(struct epochs *claims)
{
	if (claims->epochs > 1)
		qsort(claims->epoch, claims->epochs, sizeof(*claims->epoch),
		    compare_epochs);
	if (claims->partitions > 1)
		qsort(claims->partition, claims->partitions,
		    sizeof(*claims->partition), compare_names);
	for (uint32_t p = 0; p < claims->partitions; p++) {
		struct epochs_partition *partition = &claims->partition[p];

		for (uint32_t i = 0; i < claims->epochs; i++) {
			if (claims->epoch[i].part != partition->part)
				continue;
			if (partition->epochs++ == 0)
				partition->epoch = &claims->epoch[i];
		}
	}
}

int
epochs_read(struct epochs *claims, struct clickhouse *client,
    const char *pattern, struct err *err)
{
	*claims = (struct epochs){ .epochs = 0 };
	if (read_owners(claims, client, pattern, err) != 0 ||
	    read_commits(claims, client, err) != 0) {
		epochs_clear(claims);
		return -1;
	}
	connect_epochs(claims);
	return 0;
}

void
epochs_clear(struct epochs *claims)
{
	free(claims->epoch);
	free(claims->partition);
	*claims = (struct epochs){ .epochs = 0 };
}
