/*
 * datastore - encode results as entities of Google Cloud Datastore.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/targets/datastore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/text.h"
#include "proto/json/json.h"
#include "proto/os/clock.h"

enum {
	KEY_BYTES = 2 * RESULT_DIGEST_BYTES + 1 + 5 + 1,
	/* The size rules of the service's manual, "Storage size
	 * calculations". */
	ENTITY_OVERHEAD = 32,
	KEY_OVERHEAD = 16,
	TIME_BYTES = 8,
	NUMBER_BYTES_STORED = 8,
};
/* ---- destination ---- */

static int
take_id(char *to, struct text id, const char *what, struct err *err)
{
	static const char taken[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:";

	if (id.bytes == 0 || id.bytes > DATASTORE_ID_BYTES_MAX)
		return err_set(err, "a %s must have 1 to %d characters", what,
		    DATASTORE_ID_BYTES_MAX);
	memcpy(to, id.at, id.bytes);
	to[id.bytes] = '\0';
	if (strspn(to, taken) != id.bytes)
		return err_set(err,
		    "a %s may contain only letters, digits, '-', '.', '_' and "
		    "':'",
		    what);
	return 0;
}

int
datastore_location_read(
    struct datastore_location *location, const char *text, struct err *err)
{
	const char *slash = strchr(text, '/');
	struct text project = text_of(text);

	*location = (struct datastore_location){ "", "" };
	if (slash != NULL)
		project.bytes = (uint32_t)(slash - text);
	if (take_id(location->project, project, "project", err) != 0)
		return -1;
	return slash == NULL ? 0
			     : take_id(location->namespace, text_of(slash + 1),
				   "namespace", err);
}

/* ---- what is stored ---- */

struct datastore_item
datastore_item(struct json_relayout *again, const struct result_file *result,
    const struct result_entry *entry)
{
	struct datastore_item item = { result, entry, result->text };

	/* Invalid characters that Python accepts are passed through
	 * unchanged. */
	if (entry != NULL && !json_relayout(again, entry->info, &item.info))
		item.info = entry->info;
	return item;
}

/* ---- the limits ---- */

/* Size of a text property: its name and its value. */
static size_t
stored_bytes(const char *name, struct text value)
{
	return strlen(name) + 1 + value.bytes + 1;
}

static int
check_indexed(const char *what, struct text value, struct err *err)
{
	if (value.bytes <= DATASTORE_INDEXED_BYTES_MAX)
		return 0;
	return err_set(err,
	    "its %s is longer than %d bytes, the limit of an indexed property "
	    "in Datastore",
	    what, DATASTORE_INDEXED_BYTES_MAX);
}

static struct text
timing_text(const struct result_entry *entry)
{
	return entry->timing.type == VALUE_TEXT ? entry->timing.is.text
						: (struct text){ NULL, 0 };
}

int
datastore_check(const struct datastore_location *location,
    const struct datastore_item *item, struct err *err)
{
	const struct result_file *result = item->result;
	const struct result_entry *entry = item->entry;
	size_t bytes = ENTITY_OVERHEAD + KEY_OVERHEAD +
		       strlen(location->namespace) + 1 + KEY_BYTES +
		       sizeof("start") + TIME_BYTES +
		       stored_bytes("test", result->test) +
		       stored_bytes("info", item->info);
	int64_t ns;

	if (check_indexed("test's name", result->test, err) != 0)
		return -1;
	if (entry != NULL) {
		bytes += sizeof("Entry") + stored_bytes("entry", entry->name) +
			 NUMBER_BYTES_STORED +
			 stored_bytes("timing", timing_text(entry));
		if (check_indexed("entry's name", entry->name, err) != 0 ||
		    check_indexed("wallTime", timing_text(entry), err) != 0)
			return -1;
	} else {
		bytes += sizeof("Test");
	}
	if (__builtin_mul_overflow(result->start_us, 1000, &ns))
		return err_set(err, "its startTime is out of range");
	if (bytes <= DATASTORE_ENTITY_BYTES_MAX)
		return 0;
	return err_set(err,
	    "it is an entity of %zu bytes; Datastore accepts at most %d", bytes,
	    DATASTORE_ENTITY_BYTES_MAX);
}

/* ---- entities ---- */

static void
begin_property(struct json *json, const char *name)
{
	json_add_object(json, name);
}

static void
put_text(struct json *json, const char *name, struct text value, bool indexed)
{
	begin_property(json, name);
	json_add_text(json, "stringValue", value);
	if (!indexed) {
		json_add_bool(json, "excludeFromIndexes", true);
	}
	json_end_object(json);
}

static void
put_start(struct json *json, int64_t start_us)
{
	char text[CLOCK_TEXT_BYTES];

	begin_property(json, "start");
	json_add_string(
	    json, "timestampValue", clock_text(text, start_us * 1000, 6));
	json_end_object(json);
}

static void
put_timing(struct json *json, const struct value *timing)
{
	char digits[24];

	if (timing->type == VALUE_TEXT) {
		put_text(json, "timing", timing->is.text, true);
		return;
	}
	begin_property(json, "timing");
	if (timing->type == VALUE_FLOAT) {
		json_add_float(json, "doubleValue", timing->is.f);
	} else {
		/* A string, like all 64-bit integers in the JSON mapping of
		 * protobuf. */
		snprintf(
		    digits, sizeof(digits), "%lld", (long long)timing->is.i);
		json_add_string(json, "integerValue", digits);
	}
	json_end_object(json);
}

static void
put_key(struct json *json, const struct datastore_location *location,
    const struct datastore_item *item)
{
	const struct result_file *result = item->result;
	const struct result_entry *entry = item->entry;
	char name[KEY_BYTES];
	char *end = text_hex(name, result->digest, RESULT_DIGEST_BYTES);

	*end = '\0';
	if (entry != NULL)
		snprintf(end, sizeof(name) - 2 * RESULT_DIGEST_BYTES, "/%05u",
		    (unsigned)(entry - result->entries) % 100000);
	json_add_object(json, "key");
	json_add_object(json, "partitionId");
	json_add_string(json, "projectId", location->project);
	if (location->namespace[0] != '\0') {
		json_add_string(json, "namespaceId", location->namespace);
	}
	json_end_object(json);
	json_add_array(json, "path");
	json_begin_object(json);
	json_add_string(json, "kind", entry != NULL ? "Entry" : "Test");
	json_add_string(json, "name", name);
	json_end_object(json);
	json_end_array(json);
	json_end_object(json);
}

static void
put_mutation(struct json *json, const struct datastore_location *location,
    const struct datastore_item *item)
{
	json_begin_object(json);
	json_add_object(json, "upsert");
	put_key(json, location, item);
	json_add_object(json, "properties");
	put_text(json, "test", item->result->test, true);
	put_start(json, item->result->start_us);
	if (item->entry != NULL) {
		put_text(json, "entry", item->entry->name, true);
		put_timing(json, &item->entry->timing);
	}
	put_text(json, "info", item->info, false);
	json_end_object(json);
	json_end_object(json);
	json_end_object(json);
}

/* ---- commits ---- */

struct json_batch
datastore_commit(void)
{
	return (struct json_batch){
		.begins = text_of(
		    "{\"mode\": \"NON_TRANSACTIONAL\", \"mutations\": ["),
		.ends = text_of("]}"),
		.items_max = DATASTORE_MUTATIONS_MAX,
		.bytes_max = DATASTORE_BODY_BYTES_MAX,
	};
}

/* A single entity fits: a byte of text has at most six when escaped. */
bool
datastore_add(struct json_batch *commit,
    const struct datastore_location *location,
    const struct datastore_item *item)
{
	struct json_memory mutation;
	bool fits;

	json_memory_begin(&mutation, JSON_STRICT);
	put_mutation(&mutation.to, location, item);
	fits = json_batch_add(commit, json_memory_end(&mutation));
	free(mutation.text);
	return fits;
}
