/*
 * pull_common - the facts that all partitions of a store share.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/pull/pull_common.h"

#include <string.h>

#include "aggregator/archive/rows/common.h"
#include "aggregator/archive/rows/state_key.h"
#include "aggregator/tables/tables.h"
#include "proto/base/varint.h"

enum { COMMON_BYTES_MAX = 64 << 20 };

bool
pull_common_is(struct text key)
{
	struct state_key of;

	return state_key_split(&of, TABLES_META, key) && of.is_common;
}

void
pull_common_begin(struct pull_common *common)
{
	common->rows.bytes = 0;
	common->pos = 0;
}

int
pull_common_add(struct pull_common *common, struct text key, struct text value,
    uint64_t pos, struct err *err)
{
	if (!common_is(key))
		return err_set(err, "archive: a fact that no store shares");
	if (pos < common->pos)
		return 0;
	if (pos > common->pos)
		common->rows.bytes = 0;
	common->pos = pos;
	if (common->rows.bytes > COMMON_BYTES_MAX)
		return err_set(err, "archive: too many models");
	varint_put_text(&common->rows, key);
	varint_put_text(&common->rows, value);
	return 0;
}

static int
put_all(const struct pull_common *common, struct db *tables, struct err *err)
{
	struct varint_reader rows =
	    varint_reader_of(buffer_text(&common->rows));
	struct db_txn *txn;

	if (db_begin(tables, true, &txn, err) != 0)
		return -1;
	while (varint_left(&rows) > 0) {
		struct text key = varint_get_text(&rows);

		db_put(txn, TABLES_META, key, varint_get_text(&rows));
	}
	return db_commit(&txn, err) == DB_OK ? 0 : -1;
}

/* What readers need of them are the models: all partitions of a mirror must
 * have the same ones.  They may change later, all at once. */
static int
add_to_mirror(
    const struct pull_common *common, struct pull_into *into, struct err *err)
{
	struct varint_reader rows =
	    varint_reader_of(buffer_text(&common->rows));
	struct text models = { NULL, 0 };

	while (varint_left(&rows) > 0) {
		struct text key = varint_get_text(&rows);
		struct text value = varint_get_text(&rows);

		if (text_equal(key, text_of(FACT_MODELS)))
			models = value;
	}
	if (into->common.bytes > 0 && !into->is_later &&
	    !text_equal(models, buffer_text(&into->common)))
		return err_set(err,
		    "%s comes from an aggregator with other models than the "
		    "partitions that were read before: ask for it alone",
		    into->partition->name);
	if (models.bytes > 0) {
		into->common.bytes = 0;
		buffer_put_text(&into->common, models);
	}
	return put_all(common, into->tables, err);
}

int
pull_common_end(
    struct pull_common *common, struct pull_into *into, struct err *err)
{
	if (common->rows.bytes == 0)
		return 0; /* nothing was archived of it yet */
	if (into->is_mirror)
		return add_to_mirror(common, into, err);
	if (into->common_of != NULL) {
		if (text_equal(
			buffer_text(&common->rows), buffer_text(&into->common)))
			return 0;
		return err_set(err,
		    "%s and %s come from stores with other models or keys: "
		    "give each a store of its own, with -p",
		    into->common_of, into->partition->name);
	}
	into->common_of = into->partition->name;
	into->common.bytes = 0;
	buffer_put_text(&into->common, buffer_text(&common->rows));
	return put_all(common, into->tables, err);
}

void
pull_common_clear(struct pull_common *common)
{
	buffer_clear(&common->rows);
}
