/*
 * claims - who writes which partitions to the archive, decided by ZooKeeper
 * through the engine alone.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/claims.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/question.h"
#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/os/heartbeat.h"

/* "Code: 999": of ZooKeeper. */
enum { KEEPER_EXCEPTION = 999, HOME_SHARD = 0 };

void
claims_clear(struct claims *claims)
{
	free(claims->claim);
	free(claims->part);
	*claims = (struct claims){ .client = claims->client };
}

/* NULL: there is none. */
static const struct claim *
last_claim(const struct claims *claims)
{
	return claims->count > 0 ? &claims->claim[claims->count - 1] : NULL;
}

const struct claim *
claims_of_store(const struct claims *claims, uint64_t store)
{
	for (uint32_t i = claims->count; i-- > 0;)
		if (claims->claim[i].store == store)
			return &claims->claim[i];
	return NULL;
}

const struct claim *
claims_of_epoch(const struct claims *claims, uint32_t epoch)
{
	for (uint32_t i = claims->count; i-- > 0;)
		if (claims->claim[i].epoch == epoch)
			return &claims->claim[i];
	return NULL;
}

static int
compare_parts(const void *a, const void *b)
{
	const struct claim_part *x = a, *y = b;

	return (x->part > y->part) - (x->part < y->part);
}

static struct claim_part *
find_part(const struct claims *claims, uint64_t part)
{
	const struct claim_part key = { part, 0 };

	return claims->parts == 0 ? NULL
				  : bsearch(&key, claims->part, claims->parts,
					sizeof(key), compare_parts);
}

uint32_t
claims_epoch_of(const struct claims *claims, uint64_t part)
{
	const struct claim_part *found = find_part(claims, part);

	return found != NULL ? found->epoch : 0;
}

/* ---- the columns of a claim ---- */

/* What one claim says, while its columns are read. */
struct reading {
	struct claim claim;
	uint64_t part[CLAIM_PARTS_MAX];
	uint32_t parts;
	bool is_bad;
};

static bool
take_word(struct text *column, const char *word)
{
	size_t bytes = strlen(word);

	if (column->bytes < bytes || memcmp(column->at, word, bytes) != 0)
		return false;
	column->at += bytes;
	column->bytes -= (uint32_t)bytes;
	return true;
}

static bool
read_digits(struct text digits, uint64_t *number)
{
	unsigned char bytes[sizeof(*number)];

	if (digits.bytes != 2 * sizeof(bytes) ||
	    !text_unhex(bytes, sizeof(bytes), digits))
		return false;
	*number = 0;
	for (size_t i = 0; i < sizeof(bytes); i++)
		*number = *number << 8 | bytes[i];
	return true;
}

/* A column that this version does not know says nothing to it. */
static bool
read_column(struct reading *reading, struct text column)
{
	struct claim *claim = &reading->claim;
	uint64_t number;

	if (take_word(&column, "id_"))
		return read_digits(column, &claim->claimant);
	if (take_word(&column, "of_"))
		return read_digits(column, &claim->store);
	if (take_word(&column, "part_"))
		return reading->parts < CLAIM_PARTS_MAX &&
		       read_digits(column, &reading->part[reading->parts++]);
	if (take_word(&column, "epoch_")) {
		if (number_parse_u64(column, &number, NULL) != 0 ||
		    number == 0 || number > claim->number)
			return false;
		claim->epoch = (uint32_t)number;
		return true;
	}
	if (take_word(&column, "at_")) {
		if (column.bytes / 2 >= sizeof(claim->endpoint) ||
		    !text_unhex((unsigned char *)claim->endpoint,
			column.bytes / 2, column))
			return false;
		claim->endpoint[column.bytes / 2] = '\0';
	}
	return true;
}

/* Names are between accents grave. */
static void
read_columns(struct reading *reading, struct text answer)
{
	while (answer.bytes > 0 && !reading->is_bad &&
	       memchr(answer.at, '`', answer.bytes) != NULL) {
		struct text from = text_after(answer, '`');

		reading->is_bad = !read_column(reading, text_before(from, '`'));
		answer = text_after(from, '`');
	}
	if (reading->claim.claimant == 0 || reading->claim.epoch == 0)
		reading->is_bad = true;
}

static void
add_claim(struct claims *claims, const struct reading *reading)
{
	*MEMORY_ADD(claims->claim, claims->room, claims->count) =
	    reading->claim;
	for (uint32_t i = 0; i < reading->parts; i++) {
		struct claim_part *part = find_part(claims, reading->part[i]);

		if (part != NULL) {
			part->epoch = reading->claim.epoch;
			continue;
		}
		*MEMORY_ADD(claims->part, claims->part_room, claims->parts) =
		    (struct claim_part){ reading->part[i],
			    reading->claim.epoch };
		qsort(claims->part, claims->parts, sizeof(*claims->part),
		    compare_parts);
	}
}

/* ---- reading ---- */

static int
read_path(
    struct claims *claims, const struct question *question, struct err *err)
{
	const char *table = "/owners";
	struct text answer, line;

	if (claims->path[0] != '\0' ||
	    !clickhouse_cluster(claims->client)->keeper)
		return 0;
	if (question_ask(question, &answer, err,
		"SELECT zookeeper_path FROM system.replicas "
		"WHERE database = '%s' AND table = 'owners'",
		clickhouse_database(claims->client)) != 0)
		return -1;
	if (!text_next_line(&answer, &line) || line.bytes <= strlen(table) ||
	    line.bytes >= sizeof(claims->path) ||
	    memchr(line.at, '\'', line.bytes) != NULL ||
	    memchr(line.at, '\\', line.bytes) != NULL)
		return err_set(err,
		    "archive: table owners is not in ZooKeeper; run poolscope "
		    "archive create");
	snprintf(claims->path, sizeof(claims->path), "%.*s",
	    (int)(line.bytes - strlen(table)), line.at);
	return 0;
}

static int
read_claim(struct claims *claims, const struct question *question,
    uint32_t number, struct err *err)
{
	struct reading reading = { .claim = { .number = number } };
	struct text answer;
	int rc;

	if (claims->path[0] != '\0')
		rc = question_ask(question, &answer, err,
		    "SELECT value FROM system.zookeeper WHERE path = "
		    "'%s/claim_%u' AND name = 'columns'",
		    claims->path, number);
	else
		rc = question_ask(question, &answer, err,
		    "SELECT concat('`', name, '`') FROM system.columns "
		    "WHERE database = '%s' AND table = 'claim_%u'",
		    clickhouse_database(claims->client), number);
	if (rc != 0)
		return -1;
	read_columns(&reading, answer);
	if (reading.is_bad)
		return err_set(err,
		    "archive: claim %u was not made by this version of "
		    "poolscope",
		    number);
	add_claim(claims, &reading);
	return 0;
}

/* The numbers from the last that is known on.  Returns a new array. */
static uint64_t *
list(struct claims *claims, const struct question *question, uint32_t *count,
    struct err *err)
{
	const char *database = clickhouse_database(claims->client);
	const struct claim *last = last_claim(claims);
	uint64_t *number = NULL;
	struct text answer;
	uint32_t room = 0;
	int rc;

	*count = 0;
	rc = question_ask(question, &answer, err,
	    "SELECT toUInt32OrZero(substring(name, 7)) AS n FROM system.%s "
	    "WHERE %s = '%s' AND substring(name, 1, 6) = 'claim_' AND n >= %u "
	    "AND n > 0 ORDER BY n",
	    claims->path[0] != '\0' ? "zookeeper" : "tables",
	    claims->path[0] != '\0' ? "path" : "database",
	    claims->path[0] != '\0' ? claims->path : database,
	    last != NULL ? last->number : 0);
	if (rc != 0)
		return NULL;
	do {
		MEMORY_GROW(number, room, *count);
		rc = question_row(question, &answer, &number[*count], 1, err);
		*count += rc > 0;
	} while (rc > 0 && *count < CLAIM_NUMBER_MAX);
	if (rc == 0)
		return number;
	free(number);
	return NULL;
}

static int
explain(const struct claims *claims, struct err *err)
{
	if (clickhouse_exception(claims->client) != KEEPER_EXCEPTION ||
	    strstr(err->text, "No node") == NULL)
		return -1;
	return err_set(err,
	    "archive: ZooKeeper has lost the tables of the archive; nothing is "
	    "archived. Make them again (deploy/clickhouse/README.md, "
	    "\"ZooKeeper's data was lost\")");
}

static int
read_from(void *arg, const struct question *question, struct err *err)
{
	struct claims *claims = arg;
	const struct claim *last = last_claim(claims);
	uint32_t count;
	uint64_t *number;
	int rc = 0;

	if (read_path(claims, question, err) != 0)
		return -1;
	number = list(claims, question, &count, err);
	if (number == NULL)
		return explain(claims, err);
	if (last != NULL && (count == 0 || number[0] != last->number)) {
		free(number);
		claims_clear(claims);
		return read_from(claims, question, err);
	}
	for (uint32_t i = last != NULL; i < count && rc == 0; i++)
		rc = read_claim(claims, question, (uint32_t)number[i], err);
	free(number);
	return rc;
}

int
claims_read(struct claims *claims, struct err *err)
{
	return question_any(claims->client, HOME_SHARD, read_from, claims, err);
}

/* ---- making ---- */

static void
write_statement(const struct claims *claims, const struct claim *new,
    uint32_t number, const uint64_t *part, uint32_t parts, FILE *to)
{
	const char *database = clickhouse_database(claims->client);
	char at[2 * CLAIM_ENDPOINT_BYTES + 1];

	fprintf(to,
	    "CREATE TABLE %s.claim_%u (id_%016" PRIx64 " UInt8, of_%016" PRIx64
	    " UInt8, epoch_%u UInt8",
	    database, number, new->claimant, new->store,
	    new->epoch != 0 ? new->epoch : number);
	if (new->endpoint[0] != '\0')
		fprintf(to, ", at_%.*s UInt8",
		    (int)(text_hex(at, new->endpoint,
			      (uint32_t)strlen(new->endpoint)) -
			  at),
		    at);
	for (uint32_t i = 0; i < parts; i++)
		fprintf(to, ", part_%016" PRIx64 " UInt8", part[i]);
	if (clickhouse_cluster(claims->client)->keeper)
		fprintf(to,
		    ") ENGINE = ReplicatedMergeTree('/clickhouse/tables/"
		    "{cluster}/{shard}/%s/claim_%u', '{replica}') ORDER BY "
		    "tuple()",
		    database, number);
	else
		fprintf(to, ") ENGINE = MergeTree ORDER BY tuple()");
}

struct making {
	struct claims *claims;
	uint32_t number;
	const char *statement;
};

/* Whatever a replica says: what there is then counts, and the replica that made
 * a claim sees it. */
static int
make_one(void *arg, const struct question *question, struct err *err)
{
	const struct making *making = arg;
	const struct claim *last;
	struct err why = { .text = "" };

	heartbeat_rest();
	(void)clickhouse_run(question->client, question->shard,
	    question->replica, making->statement, &why);
	heartbeat_beat();
	if (read_from(making->claims, question, err) != 0)
		return -1;
	last = last_claim(making->claims);
	return last != NULL && last->number >= making->number
		   ? 0
		   : err_set_code(err, why.code, "%s", why.text);
}

int
claims_make(struct claims *claims, const struct claim *new,
    const uint64_t *part, uint32_t parts, struct err *err)
{
	const struct claim *last = last_claim(claims);
	uint32_t number = (last != NULL ? last->number : claims->floor) + 1;
	struct making making = { claims, number, NULL };
	char *statement = NULL;
	size_t bytes;
	FILE *to;
	int rc;

	if (number > CLAIM_NUMBER_MAX)
		return err_set(err, "archive: it has too many claims");
	to = memory_stream(&statement, &bytes);
	write_statement(claims, new, number, part, parts, to);
	memory_stream_end(&to);
	making.statement = statement;
	rc = question_any(claims->client, HOME_SHARD, make_one, &making, err);
	free(statement);
	return rc;
}
