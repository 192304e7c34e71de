/*
 * pool - the pool that an exporter reads.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/json/json_fields.h"
#include "proto/json/json_find.h"
#include "proto/os/log.h"

enum { PATH_BYTES = 4096, FILE_BYTES_MAX = 1 << 20 };

const struct opt pool_options[] = {
	{ "partition", 'p', OPT_TEXT, OPT_TO(struct pool_options, partition),
	    "PARTITION", "read this pool, written account$pool" },
	{ "configdir", 0, OPT_TEXT, OPT_TO(struct pool_options, configdir),
	    "DIR",
	    "take account and pool from credentials.json, config.json and "
	    "pool.json in DIR" },
	{ "credentials", 0, OPT_TEXT, OPT_TO(struct pool_options, files[0]),
	    "FILE", "use this file as credentials.json" },
	{ "config-json", 0, OPT_TEXT, OPT_TO(struct pool_options, files[1]),
	    "FILE", "use this file as config.json" },
	{ "pool", 0, OPT_TEXT, OPT_TO(struct pool_options, files[2]), "FILE",
	    "use this file as pool.json" },
	{ .name = NULL },
};

struct text
pool_id(struct text partition)
{
	uint32_t begin = partition.bytes;

	while (begin > 0 && partition.at[begin - 1] != '$')
		begin--;
	return (struct text){ partition.at + begin, partition.bytes - begin };
}

struct text
pool_base(char to[static INSTANCE_PATH_BYTES], struct text partition)
{
	uint32_t bytes = partition.bytes;

	if (bytes >= INSTANCE_PATH_BYTES)
		bytes = INSTANCE_PATH_BYTES - 1;
	for (uint32_t i = 0; i < bytes; i++)
		to[i] = partition.at[i];
	for (uint32_t i = 0; i < bytes; i++)
		if (to[i] == '$')
			to[i] = '-';
	to[bytes] = '\0';
	return (struct text){ to, bytes };
}

struct pool_json {
	char *at; /* owns the text */
	struct text text;
};

/* Read a whole file; the caller frees it, also after an error. */
static int
load(struct pool_json *to, const char *path, struct err *err)
{
	FILE *file = fopen(path, "re");
	char *at;
	size_t bytes;
	int rc = 0;

	if (file == NULL)
		return err_set(err, "%s: %s", path, strerror(errno));
	at = memory_alloc(FILE_BYTES_MAX);
	bytes = fread(at, 1, FILE_BYTES_MAX, file);
	if (ferror(file))
		rc = err_set(err, "%s: %s", path, strerror(errno));
	else if (bytes == FILE_BYTES_MAX)
		rc = err_set(err, "%s: is larger than %d KiB", path,
		    FILE_BYTES_MAX / 1024);
	fclose(file);
	*to = (struct pool_json){ at, { at, (uint32_t)bytes } };
	return rc;
}

static bool
is_object(struct text value)
{
	return value.bytes > 0 && value.at[0] == '{';
}

static struct text
find_key(const struct json_fields *object, struct text key)
{
	for (uint32_t i = 0; i < object->count; i++)
		if (text_equal(object->keys.at[i], key))
			return object->values[i];
	return (struct text){ NULL, 0 };
}

/* Later files override earlier ones, objects key by key: no member may be an
 * object in only one of the two.  The reader bounds the depth. */
static int
check_merge(struct text under, struct text over, struct err *err)
{
	struct json_fields old = { .values = NULL }, new = { .values = NULL };
	int rc = json_fields_read(&old, under, err);

	if (rc == 0)
		rc = json_fields_read(&new, over, err);
	for (uint32_t i = 0; rc == 0 && i < new.count; i++) {
		struct text value = find_key(&old, new.keys.at[i]);
		char shown[128];

		if (value.bytes == 0 ||
		    (!is_object(value) && !is_object(new.values[i])))
			continue;
		text_quote(shown, sizeof(shown), new.keys.at[i]);
		if (is_object(value) && is_object(new.values[i]))
			rc = check_merge(value, new.values[i], err);
		else
			rc = err_set(err,
			    "\"%s\" is an object in one file and not in "
			    "another",
			    shown);
	}
	json_fields_clear(&old);
	json_fields_clear(&new);
	return rc;
}

static int
load_over(struct pool_json all[], int i, const char *path, struct err *err)
{
	struct json_fields object = { .values = NULL };
	int rc = load(&all[i], path, err);

	if (rc != 0)
		return -1;
	rc = json_fields_read(&object, all[i].text, err);
	json_fields_clear(&object);
	for (int j = 0; j < i && rc == 0; j++)
		rc = check_merge(all[j].text, all[i].text, err);
	if (rc != 0)
		err_prefix(err, "%s", path);
	return rc;
}

/* A string of the merged object that is valid as one half of a partition. */
static int
take_name(char to[static NAME_BYTES_MAX + 1], const struct pool_json all[],
    const char *const path[], const char *as, struct err *err)
{
	struct text value = { NULL, 0 };
	enum text_fault fault = TEXT_OK;
	char *name;
	int rc = 0;

	for (int i = POOL_FILES - 1; i >= 0 && value.bytes == 0; i--) {
		value = all[i].text;
		for (int k = 0; path[k] != NULL; k++)
			value = json_find(value, path[k]);
	}
	name = json_find_string(value);
	if (value.bytes == 0)
		rc = err_set(err, "%s is missing", as);
	else if (name == NULL)
		rc = err_set(err, "%s is not a string", as);
	else if ((fault = text_check_name(text_of(name))) != TEXT_OK)
		rc = err_set(err, "%s %s", as, text_fault_words(fault));
	else if (strchr(name, '$') != NULL)
		rc = err_set(err, "%s contains a '$'", as);
	else
		strcpy(to, name);
	free(name);
	return rc;
}

int
pool_read_files(char to[static INSTANCE_PATH_BYTES],
    const char *const files[static POOL_FILES], struct err *err)
{
	static const char *const account_path[] = { "credentials", "batch",
		"account", NULL };
	static const char *const pool_path[] = { "pool_specification", "id",
		NULL };
	char account[NAME_BYTES_MAX + 1], pool[NAME_BYTES_MAX + 1];
	struct pool_json all[POOL_FILES] = { { .at = NULL } };
	int rc = 0;

	for (int i = 0; i < POOL_FILES && rc == 0; i++)
		rc = load_over(all, i, files[i], err);
	if (rc == 0)
		rc = take_name(account, all, account_path,
		    "credentials.batch.account", err);
	if (rc == 0)
		rc = take_name(
		    pool, all, pool_path, "pool_specification.id", err);
	if (rc == 0 && strlen(account) + strlen(pool) + 1 > NAME_BYTES_MAX)
		rc = err_set(err, "account and pool together %s",
		    text_fault_words(TEXT_TOO_LONG));
	if (rc == 0)
		snprintf(to, INSTANCE_PATH_BYTES, "%s$%s", account, pool);
	for (int i = 0; i < POOL_FILES; i++)
		free(all[i].at);
	return rc;
}

static int
from_files(char to[static INSTANCE_PATH_BYTES],
    const struct pool_options *options, struct err *err)
{
	static const char *const names[POOL_FILES] = { "credentials", "config",
		"pool" };
	char paths[POOL_FILES][PATH_BYTES];
	const char *files[POOL_FILES];

	for (int i = 0; i < POOL_FILES; i++) {
		files[i] = options->files[i];
		if (files[i] != NULL)
			continue;
		if (options->configdir == NULL)
			return err_set(
			    err, "%s JSON file not specified", names[i]);
		if (snprintf(paths[i], PATH_BYTES, "%s/%s.json",
			options->configdir, names[i]) >= PATH_BYTES)
			return err_set_option(err, "configdir", "is too long");
		files[i] = paths[i];
	}
	return pool_read_files(to, files, err);
}

int
pool_partition(char to[static INSTANCE_PATH_BYTES],
    const struct pool_options *options, struct err *err)
{
	enum opt_from name = opt_origin_of(&options->partition);
	enum opt_from files = opt_origin_of(&options->configdir);
	const char *why;
	int rc;

	for (int i = 0; i < POOL_FILES; i++)
		if (opt_origin_of(&options->files[i]) > files)
			files = opt_origin_of(&options->files[i]);
	if (files == OPT_COMMAND_LINE && name == OPT_COMMAND_LINE)
		opt_usage("name the pool with --partition or with the JSON "
			  "files, not with both");
	if (files != OPT_DEFAULT && files >= name)
		return from_files(to, options, err);
	rc = instance_partition(to, options->partition, &why, err);
	if (rc == 0 && options->partition == NULL)
		log_info("partition %s (%s)", to, why);
	return rc;
}
