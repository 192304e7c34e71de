/*
 * pool - the pool that an exporter reads.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "proto/base/memory.h"
#include "proto/os/log.h"

enum { PATH_BYTES = 4096, DEPTH_MAX = 64 };

const struct opt pool_options[] = {
	{ "partition", 'p', OPT_TEXT, OPT_TO(struct pool_options, partition),
	    "PARTITION", "read this pool, written account$pool", NULL, false },
	{ "configdir", 0, OPT_TEXT, OPT_TO(struct pool_options, configdir),
	    "DIR",
	    "take account and pool from credentials.json, config.json and "
	    "pool.json in DIR",
	    NULL, false },
	{ "credentials", 0, OPT_TEXT, OPT_TO(struct pool_options, files[0]),
	    "FILE", "use this file as credentials.json", NULL, false },
	{ "config-json", 0, OPT_TEXT, OPT_TO(struct pool_options, files[1]),
	    "FILE", "use this file as config.json", NULL, false },
	{ "pool", 0, OPT_TEXT, OPT_TO(struct pool_options, files[2]), "FILE",
	    "use this file as pool.json", NULL, false },
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

/* Merge `over` into `under`: objects key by key, other values are replaced; an
 * object cannot replace another type, or the reverse. */
static int
merge(json_t *under, json_t *over, int depth, struct err *err)
{
	const char *key;
	json_t *new;

	json_object_foreach(over, key, new)
	{
		json_t *old = json_object_get(under, key);
		char shown[128];

		if (old == NULL ||
		    (!json_is_object(old) && !json_is_object(new))) {
			json_object_set(under, key, new);
			continue;
		}
		text_quote(shown, sizeof(shown), text_of(key));
		if (!json_is_object(old) || !json_is_object(new))
			return err_set(err,
			    "\"%s\" is an object in one file and not in "
			    "another",
			    shown);
		if (depth == DEPTH_MAX)
			return err_set(err, "\"%s\" is nested too deep", shown);
		if (merge(old, new, depth + 1, err) != 0)
			return -1;
	}
	return 0;
}

static int
load_over(json_t *all, const char *path, struct err *err)
{
	json_error_t wrong;
	json_t *one = json_load_file(path, JSON_REJECT_DUPLICATES, &wrong);
	char shown[ERR_BYTES / 2];
	int rc;

	if (one == NULL) {
		text_quote(shown, sizeof(shown), text_of(wrong.text));
		if (wrong.line > 0)
			return err_set(
			    err, "%s:%d: %s", path, wrong.line, shown);
		return err_set(err, "%s", shown);
	}
	if (json_is_object(one))
		rc = merge(all, one, 0, err);
	else
		rc = err_set(err, "is not an object");
	if (rc != 0)
		err_prefix(err, "%s", path);
	json_decref(one);
	return rc;
}

/* A string of the merged object that is valid as one half of a partition. */
static int
take_name(const char **to, json_t *all, const char *const path[],
    const char *as, struct err *err)
{
	enum text_fault fault;
	json_t *at = all;

	for (int i = 0; path[i] != NULL && at != NULL; i++)
		at = json_object_get(at, path[i]);
	*to = json_string_value(at);
	if (at == NULL)
		return err_set(err, "%s is missing", as);
	if (*to == NULL)
		return err_set(err, "%s is not a string", as);
	if (strlen(*to) != json_string_length(at))
		return err_set(err, "%s contains control characters", as);
	fault = text_check_name(text_of(*to));
	if (fault != TEXT_OK)
		return err_set(err, "%s %s", as, text_fault_words(fault));
	if (strchr(*to, '$') != NULL)
		return err_set(err, "%s contains a '$'", as);
	return 0;
}

int
pool_read_files(char to[static INSTANCE_PATH_BYTES],
    const char *const files[static POOL_FILES], struct err *err)
{
	static const char *const account_path[] = { "credentials", "batch",
		"account", NULL };
	static const char *const pool_path[] = { "pool_specification", "id",
		NULL };
	const char *account = NULL, *pool = NULL;
	json_t *all = memory_must(json_object());
	int rc = 0;

	for (int i = 0; i < POOL_FILES && rc == 0; i++)
		rc = load_over(all, files[i], err);
	if (rc == 0)
		rc = take_name(&account, all, account_path,
		    "credentials.batch.account", err);
	if (rc == 0)
		rc = take_name(
		    &pool, all, pool_path, "pool_specification.id", err);
	if (rc == 0 && strlen(account) + strlen(pool) + 1 > NAME_BYTES_MAX)
		rc = err_set(err, "account and pool together %s",
		    text_fault_words(TEXT_TOO_LONG));
	if (rc == 0)
		snprintf(to, INSTANCE_PATH_BYTES, "%s$%s", account, pool);
	json_decref(all);
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
