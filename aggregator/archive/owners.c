/*
 * owners - which aggregator writes a partition to the archive.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/owners.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggregator/archive/commits.h"
#include "aggregator/archive/insert.h"
#include "aggregator/archive/question.h"
#include "aggregator/archive/rows/typed.h"
#include "aggregator/tables/dictionary.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"
#include "proto/base/varint.h"
#include "proto/hash/hash.h"

enum { PLACE_BITS = 32, BOOT_BYTES = 64 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct native_column owners_columns[] = {
	{ "part", NATIVE_UINT64 },
	{ "name", NATIVE_STRING },
	{ "epoch", NATIVE_UINT32 },
	{ "who", NATIVE_UINT64 },
	{ "until", NATIVE_UINT64 },
};

void
owners_clear(struct owners *owners)
{
	claims_clear(&owners->claims);
	free(owners->part);
	owners->part = NULL;
	owners->parts = 0;
	owners->has_rows = false;
}

/* ---- which epoch ---- */

uint32_t
owners_place(const char *store)
{
	struct {
		uint64_t device, file;
		char boot[BOOT_BYTES];
	} place = { .boot = "" };
	const struct hash_key key = { 0, 0 };
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (fd >= 0) {
		/* Without it, all starts are one. */
		(void)!read(fd, place.boot, sizeof(place.boot));
		close(fd);
	}
	if (stat(store, &status) == 0) {
		place.device = (uint64_t)status.st_dev;
		place.file = (uint64_t)status.st_ino;
	}
	return (uint32_t)hash_bytes(key, &place, sizeof(place));
}

static int
refuse_copy(struct owners *owners, const struct claim *mine, struct err *err)
{
	owners->is_refused = true;
	return err_set(err,
	    "archive: another copy of this store%s%.60s has claimed its "
	    "partitions since (claim %u); nothing is archived. To go on here, "
	    "make a store with poolscope archive restore, then poolscope "
	    "archive takeover",
	    mine->endpoint[0] != '\0' ? ", at " : "", mine->endpoint,
	    mine->number);
}

static void
draw(struct owners *owners)
{
	uint32_t number;

	hash_random_bytes(&number, sizeof(number));
	owners->claimant = (uint64_t)number << PLACE_BITS | owners->place;
}

/* Does a newer epoch have a partition that is to be taken over? */
static bool
is_overtaken(const struct owners *owners, uint32_t epoch)
{
	for (uint32_t i = 0; owners->takes_over && i < owners->claims.parts;
	     i++)
		if (owners->claims.part[i].epoch > epoch)
			return true;
	return false;
}

/* Epochs are not used again when ZooKeeper has forgotten its claims. */
static int
find_floor(void *arg, const struct question *question, struct err *err)
{
	struct claims *claims = arg;
	const char *database = clickhouse_database(claims->client);
	uint64_t epoch;

	if (question_numbers(question, &epoch, 1, err,
		"SELECT greatest((SELECT max(epoch) FROM %s.owners), "
		"(SELECT intDiv(max(pos), %llu) FROM %s.commits))",
		database, 1ULL << PASS_CHANGE_BITS, database) != 0)
		return -1;
	if (epoch > claims->floor)
		claims->floor = (uint32_t)epoch;
	return 0;
}

struct owners_notes
owners_notes(struct db_txn *txn)
{
	return (struct owners_notes){
		.claimant = tables_fact(txn, FACT_CLAIMANT),
		.claim = (uint32_t)tables_fact(txn, FACT_CLAIM),
		.archived = tables_fact(txn, FACT_ARCHIVED),
	};
}

int
owners_recognize(
    struct owners *owners, const struct owners_notes *notes, struct err *err)
{
	bool is_of_this_start =
	    owners->claimant != 0 && owners->claimant == notes->claimant;
	const struct claim *mine;
	bool is_same;

	owners->is_refused = false;
	owners->epoch = owners->claim = 0;
	owners->noted = notes->archived;
	owners->claims.client = owners->client;
	claims_clear(&owners->claims);
	if (claims_read(&owners->claims, err) != 0)
		return -1;
	if (owners->claims.count == 0 &&
	    question_each(owners->client, find_floor, &owners->claims, err) !=
		0)
		return -1;
	mine = claims_of_store(&owners->claims, owners->store);
	is_same = mine != NULL && mine->claimant == notes->claimant;
	if (mine != NULL && !is_same && mine->number > notes->claim)
		return refuse_copy(owners, mine, err);
	if (mine != NULL)
		owners->claim = mine->number;
	if (is_same && (uint32_t)notes->claimant == owners->place &&
	    !is_overtaken(owners, mine->epoch)) {
		owners->claimant = notes->claimant;
		owners->epoch = mine->epoch;
	} else if (!is_of_this_start || is_same)
		draw(owners);
	return 0;
}

/* Is the last claim of this store ours? */
static int
check_claimant(struct owners *owners, struct err *err)
{
	const struct claim *mine =
	    claims_of_store(&owners->claims, owners->store);

	if (mine == NULL)
		return err_set(err, "archive: its claims were made again");
	if (mine->claimant != owners->claimant)
		return refuse_copy(owners, mine, err);
	owners->claim = mine->number;
	return 0;
}

/* A claim of ours, of an epoch or of a new one (0). */
static struct claim
new_claim(const struct owners *owners, uint32_t epoch)
{
	struct claim claim = { .epoch = epoch,
		.claimant = owners->claimant,
		.store = owners->store };

	snprintf(claim.endpoint, sizeof(claim.endpoint), "%.*s",
	    (int)sizeof(claim.endpoint) - 1, owners->endpoint);
	return claim;
}

int
owners_take_epoch(struct owners *owners, struct err *err)
{
	const struct claim new = new_claim(owners, 0);

	while (owners->epoch == 0) {
		const struct claim *mine;

		if (atomic_load(owners->stop))
			return err_set(err, "the aggregator stops");
		if (claims_make(&owners->claims, &new, NULL, 0, err) != 0)
			return -1;
		mine = claims_of_store(&owners->claims, owners->store);
		if (mine == NULL || mine->number == owners->claim)
			continue; /* somebody else has made it: the next */
		if (check_claimant(owners, err) != 0)
			return -1;
		owners->epoch = mine->epoch;
	}
	return 0;
}

/* ---- partitions ---- */

static int
compare_parts(const void *a, const void *b)
{
	const struct owners_part *x = a, *y = b;

	return (x->part > y->part) - (x->part < y->part);
}

static const struct owners_part *
find_part(const struct owners *owners, uint64_t part)
{
	const struct owners_part key = { part, 0 };

	return owners->parts == 0 ? NULL
				  : bsearch(&key, owners->part, owners->parts,
					sizeof(key), compare_parts);
}

static void
read_parts(struct owners *owners, struct db_txn *txn)
{
	uint32_t last = dictionary_last(txn, 0), before = owners->parts;
	struct text name;

	owners->part =
	    memory_resize_array(owners->part, last + 1, sizeof(*owners->part));
	owners->parts = 0;
	for (uint32_t number = 1; number <= last; number++)
		if (dictionary_text(txn, 0, number, &name))
			owners->part[owners->parts++] =
			    (struct owners_part){ typed_hash(name), number };
	qsort(
	    owners->part, owners->parts, sizeof(*owners->part), compare_parts);
	if (owners->parts != before)
		owners->has_rows = false;
}

static bool
may_claim(const struct owners *owners, uint32_t epoch)
{
	const struct claim *of = claims_of_epoch(&owners->claims, epoch);

	return epoch == 0 ||
	       (epoch < owners->epoch &&
		   (owners->takes_over ||
		       (of != NULL && of->store == owners->store)));
}

static int
refuse_part(struct owners *owners, uint32_t epoch, struct err *err)
{
	const struct claim *of = claims_of_epoch(&owners->claims, epoch);

	owners->is_refused = true;
	return err_set(err,
	    "archive: a partition of this store belongs to another aggregator "
	    "(store %016llx, epoch %u); nothing is archived. Drop it here "
	    "(poolscope partition drop), or make a store with poolscope "
	    "archive restore, then poolscope archive takeover",
	    of != NULL ? (unsigned long long)of->store : 0, epoch);
}

/* The partitions that are not ours yet, at most as many as a claim has. */
static int
find_new(struct owners *owners, uint64_t part[CLAIM_PARTS_MAX], uint32_t *parts,
    struct err *err)
{
	*parts = 0;
	for (uint32_t i = 0; i < owners->parts; i++) {
		uint32_t epoch =
		    claims_epoch_of(&owners->claims, owners->part[i].part);

		if (epoch == owners->epoch)
			continue;
		if (!may_claim(owners, epoch))
			return refuse_part(owners, epoch, err);
		if (*parts < CLAIM_PARTS_MAX)
			part[(*parts)++] = owners->part[i].part;
	}
	return 0;
}

int
owners_look(struct owners *owners, struct err *err)
{
	uint64_t part[CLAIM_PARTS_MAX];
	uint32_t parts;

	owners->is_refused = false;
	if (claims_read(&owners->claims, err) != 0 ||
	    check_claimant(owners, err) != 0 ||
	    find_new(owners, part, &parts, err) != 0)
		return -1;
	return parts == 0 ? 0
			  : err_set(err, "archive: its claims are from before");
}

static int
claim_new(struct owners *owners, struct err *err)
{
	const struct claim new = new_claim(owners, owners->epoch);
	uint64_t part[CLAIM_PARTS_MAX];
	uint32_t parts;

	for (;;) {
		if (check_claimant(owners, err) != 0 ||
		    find_new(owners, part, &parts, err) != 0)
			return -1;
		if (parts == 0)
			return 0;
		if (atomic_load(owners->stop))
			return err_set(err, "the aggregator stops");
		owners->has_rows = false;
		if (claims_make(&owners->claims, &new, part, parts, err) != 0)
			return -1;
	}
}

/* ---- rows for readers ---- */

/* The blocks of a table, one for each shard. */
struct rows {
	struct owners *owners;
	struct db_txn *txn;
	struct native_block *block[CLICKHOUSE_SHARDS_MAX];
	bool has_ends;
};

static void
put_row(struct rows *rows, const struct owners_part *part, uint32_t epoch,
    uint64_t who, uint64_t until)
{
	unsigned home =
	    (unsigned)(part->part %
		       clickhouse_cluster(rows->owners->client)->shards);
	struct native_block **block = &rows->block[home];
	struct text name;

	if (!dictionary_text(rows->txn, 0, part->number, &name))
		return;
	if (*block == NULL)
		*block =
		    native_block_open(owners_columns, COUNT(owners_columns));
	native_put_uint(*block, 0, part->part);
	native_put_text(*block, 1, name);
	native_put_uint(*block, 2, epoch);
	native_put_uint(*block, 3, who);
	native_put_uint(*block, 4, until);
}

/* Up to which position of another epoch, that was open when the store was made
 * of the archive, it has everything; 0: nothing. */
static uint64_t
origin_of(struct db_txn *txn, uint32_t epoch)
{
	struct varint_reader u;
	struct text value;

	if (!db_get(txn, TABLES_META, text_of(FACT_ORIGIN), &value))
		return 0;
	u = varint_reader_of(value);
	while (varint_left(&u) > 0 && !u.bad) {
		uint64_t number = varint_get(&u), until = varint_get(&u);

		if (number == epoch && !u.bad)
			return until;
	}
	return 0;
}

/* What another epoch has of a partition of ours. */
struct other {
	uint64_t part, epoch, who, until; /* as in table owners */
};

struct others {
	const struct owners *owners;
	struct other *at;
	uint32_t count, room;
};

static void
add_other(struct others *others, const struct other *new)
{
	for (uint32_t i = 0; i < others->count; i++) {
		struct other *other = &others->at[i];

		if (other->part != new->part || other->epoch != new->epoch)
			continue;
		if (other->until < new->until)
			other->until = new->until;
		return;
	}
	*MEMORY_ADD(others->at, others->room, others->count) = *new;
}

static int
read_others(void *arg, const struct question *question, struct err *err)
{
	struct others *others = arg;
	struct text answer;
	uint64_t row[4];
	int rc;

	if (question_ask(question, &answer, err,
		"SELECT part, epoch, who, max(until) FROM %s.owners "
		"WHERE epoch != %u GROUP BY part, epoch, who",
		clickhouse_database(question->client),
		others->owners->epoch) != 0)
		return -1;
	while ((rc = question_row(question, &answer, row, 4, err)) > 0) {
		const struct other other = { row[0], row[1], row[2], row[3] };

		if (find_part(others->owners, other.part) != NULL)
			add_other(others, &other);
	}
	return rc;
}

/* Ends it where the store has all of it; whoever goes on must have all that
 * counts. */
static int
end_other(struct rows *rows, const struct other *other,
    const struct commits_ends *ends, struct err *err)
{
	struct owners *owners = rows->owners;
	const struct owners_part *part = find_part(owners, other->part);
	uint32_t epoch = (uint32_t)other->epoch;
	uint64_t until = other->who == owners->store
			     ? pass_position(epoch, owners->noted)
			     : origin_of(rows->txn, epoch);
	char name[NAME_BYTES_MAX + 1];
	struct text text;
	/* The last position that counts, or would without an end. */
	uint64_t bound =
	    pass_position(epoch, commits_place(ends, epoch).change);

	/* What had ended when the store was made of the archive is in it. */
	if (other->until != 0 && until == 0)
		return 0;
	if (until < pass_position(epoch, 0))
		until = pass_position(epoch, 0);
	if (other->until != 0 && other->until < bound)
		bound = other->until;
	if (bound <= until) {
		put_row(rows, part, epoch, other->who,
		    other->until != 0 ? other->until : until);
		rows->has_ends = true;
		owners->ended += other->until == 0;
		return 0;
	}
	owners->is_refused = true;
	if (!dictionary_text(rows->txn, 0, part->number, &text))
		text = text_of("");
	snprintf(name, sizeof(name), "%.*s", (int)text.bytes, text.at);
	return err_set(err,
	    "archive: it has more of partition %s than the store (epoch %u): "
	    "stop the other aggregator, and restore the store again",
	    name, epoch);
}

static int
end_others(struct rows *rows, struct err *err)
{
	struct others others = { .owners = rows->owners };
	struct clickhouse *client = rows->owners->client;
	struct commits_ends ends = { .at = NULL };
	int rc = question_each(client, read_others, &others, err);

	if (rc == 0)
		rc = commits_read(&ends, client, err);
	rows->owners->ended = 0;
	for (uint32_t i = 0; rc == 0 && i < others.count; i++)
		rc = end_other(rows, &others.at[i], &ends, err);
	free(ends.at);
	free(others.at);
	return rc;
}

int
owners_check(struct owners *owners, struct db_txn *txn, struct err *err)
{
	struct rows rows = { .owners = owners, .txn = txn };
	int rc;

	read_parts(owners, txn);
	rc = end_others(&rows, err);
	for (unsigned s = 0; s < CLICKHOUSE_SHARDS_MAX; s++)
		native_block_close(&rows.block[s]);
	return rc;
}

/* Readers know partitions, and how far epochs count, from these. */
static int
write_rows(struct owners *owners, struct db_txn *txn, struct err *err)
{
	struct rows rows = { .owners = owners, .txn = txn };
	int rc;

	for (uint32_t i = 0; i < owners->parts; i++)
		put_row(
		    &rows, &owners->part[i], owners->epoch, owners->store, 0);
	rc = end_others(&rows, err);
	for (unsigned s = 0; s < CLICKHOUSE_SHARDS_MAX; s++) {
		if (rows.block[s] == NULL)
			continue;
		/* An end must not be lost with a replica once the aggregator
		 * writes: it repeats what a takeover has written. */
		if (rc == 0)
			rc = insert_block(owners->client, s, "owners",
			    rows.block[s],
			    rows.has_ends && !owners->takes_over
				? question_copies(owners->client, s)
				: 1,
			    err);
		native_block_close(&rows.block[s]);
	}
	owners->has_rows = rc == 0;
	return rc;
}

int
owners_claim(struct owners *owners, struct db_txn *txn, struct err *err)
{
	owners->is_refused = false;
	if (claims_read(&owners->claims, err) != 0)
		return -1;
	read_parts(owners, txn);
	if (claim_new(owners, err) != 0)
		return -1;
	return owners->has_rows ? 0 : write_rows(owners, txn, err);
}
