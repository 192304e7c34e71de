/*
 * target - a destination of poolscope-upload: "scheme:rest".
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/targets/target.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The types that this project's programs write, and related ones. */
static const struct {
	const char *suffix, *type;
} types[] = {
	{ "json", "application/json" },
	{ "jsonl", "application/x-ndjson" },
	{ "csv", "text/csv; charset=utf-8" },
	{ "dat", "text/plain; charset=utf-8" },
	{ "plot", "text/plain; charset=utf-8" },
	{ "txt", "text/plain; charset=utf-8" },
	{ "log", "text/plain; charset=utf-8" },
	{ "md", "text/markdown; charset=utf-8" },
	{ "html", "text/html; charset=utf-8" },
	{ "xml", "application/xml" },
	{ "png", "image/png" },
	{ "svg", "image/svg+xml" },
	{ "pdf", "application/pdf" },
	{ "gz", "application/gzip" },
	{ "zst", "application/zstd" },
	{ "zip", "application/zip" },
	{ "tar", "application/x-tar" },
};

const char *
content_type(const char *name)
{
	const char *slash = strrchr(name, '/');
	const char *dot = strrchr(slash != NULL ? slash : name, '.');

	for (size_t i = 0; dot != NULL && i < sizeof(types) / sizeof(*types);
	     i++)
		if (strcasecmp(dot + 1, types[i].suffix) == 0)
			return types[i].type;
	return "application/octet-stream";
}

const struct target_type target_store = {
	.scheme = "store",
	.takes = TARGET_RESULTS,
};

const struct target_type target_mlflow = {
	.scheme = "mlflow",
	.rest = "RUN",
	.takes = TARGET_METRICS,
};

/* In the order of --help. */
static const struct target_type *const target_types[] = {
	&target_store,       /**/
	&target_datastore,   /**/
	&target_mlflow,      /**/
	&target_azure_table, /**/
	&target_azure_blob,  /**/
	&target_s3,          /**/
	&target_influx,      /**/
	&target_http,        /**/
	NULL,
};

static const struct {
	enum target_use use;
	const char *name;
} uses[] = {
	{ TARGET_RESULTS, "results" },
	{ TARGET_FILES, "files" },
	{ TARGET_METRICS, "metrics" },
	{ TARGET_SAMPLES, "samples" },
	{ TARGET_EVENTS, "events" },
};

/* "samples and events" */
static const char *
name_uses(char *to, size_t room, unsigned set)
{
	size_t used = 0;

	to[0] = '\0';
	for (size_t i = 0; i < sizeof(uses) / sizeof(*uses); i++)
		if ((set & uses[i].use) != 0 && used < room)
			used += (size_t)snprintf(to + used, room - used, "%s%s",
			    used > 0 ? " and " : "", uses[i].name);
	return to;
}

/* The targets that accept a use: "datastore:PROJECT, s3:BUCKET/KEY" */
static void
list_types(char *to, size_t room, enum target_use use)
{
	size_t used = 0;

	to[0] = '\0';
	for (uint32_t i = 0; target_types[i] != NULL; i++)
		if ((target_types[i]->takes & use) != 0 && used < room)
			used += (size_t)snprintf(to + used, room - used,
			    "%s%s%s%s", used > 0 ? ", " : "",
			    target_types[i]->scheme,
			    target_types[i]->rest ? ":" : "",
			    target_types[i]->rest ? target_types[i]->rest : "");
}

static int
check(const struct target_type *type, struct text after, const char *rest,
    enum target_use use, struct err *err)
{
	char all[300], takes[80], wanted[80];

	if ((type->takes & use) == 0) {
		list_types(all, sizeof(all), use);
		name_uses(wanted, sizeof(wanted), use);
		return err_set(err,
		    "%s does not accept %s, only %s; %s can be uploaded to %s",
		    type->scheme, wanted,
		    name_uses(takes, sizeof(takes), type->takes), wanted, all);
	}
	if (type->rest == NULL && after.bytes > 0)
		return err_set_option(
		    err, "target", "%s: nothing may follow it", type->scheme);
	if (type->rest != NULL && *rest == '\0')
		return err_set_option(err, "target",
		    "%s:%s: the part after the colon is missing", type->scheme,
		    type->rest);
	return type->check != NULL ? type->check(rest, err) : 0;
}

/* The text after the scheme may contain a secret: do not quote it. */
const struct target_type *
target_find(
    const char *name, enum target_use use, const char **rest, struct err *err)
{
	char all[300], quoted[80], wanted[80];
	struct text scheme = { name, (uint32_t)strcspn(name, ":") };
	struct text after = text_of(name + scheme.bytes);

	*rest = after.at + (after.bytes > 0);
	for (uint32_t i = 0; target_types[i] != NULL; i++)
		if (text_equal(scheme, text_of(target_types[i]->scheme)))
			return check(target_types[i], after, *rest, use, err) ==
				       0
				   ? target_types[i]
				   : NULL;
	list_types(all, sizeof(all), use);
	err_set(err, "'%s' is not a target; %s can be uploaded to %s",
	    text_quote(quoted, sizeof(quoted), scheme),
	    name_uses(wanted, sizeof(wanted), use), all);
	return NULL;
}
