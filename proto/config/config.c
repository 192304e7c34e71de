/*
 * config - the configuration of a host (libconfuse).
 *
 * libconfuse needs a schema, which is made from the option tables of this
 * program, and refuses keys that are not in it.  No program has the tables of
 * the others, so their sections are overwritten with spaces before libconfuse
 * parses the text; line numbers stay.
 * SPDX-License-Identifier: MIT
 */
#include "proto/config/config.h"

#include <assert.h>
#include <confuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/config/config_text.h"
#include "proto/config/opt_section.h"

enum { KEYS_MAX = 192, KEY_BYTES = 48 };

/* tests/lint/config.sh compares it with the Makefile. */
static const char *const programs[] = { "agent", "emit", "import", "broker",
	"aggregator", "plot", "stats", "dump", "trace", "run", "generate",
	"upload", "results", "fetch", "web", "mcp", "report", "top", "keys",
	"partitions", "archive", "spool", "wire", "receiver", NULL };

const char *const config_shared[] = { "dir", "log", "quiet", "partition",
	"connect", "store", "insecure", "stop-timeout", "cacert", "retry-time",
	"archive-password", "archive-cacert", "archive-insecure", NULL };

/* The keys of the sections of an option. */
struct parts {
	char name[OPT_SECTION_KEYS_MAX][KEY_BYTES];
	cfg_opt_t schema[OPT_SECTION_KEYS_MAX + 1];
};

struct key {
	char name[KEY_BYTES];
	const struct opt *opt; /* NULL: of another program */
	bool own;              /* inside its section */
	const char *file;      /* line of the last value */
	int line;
	struct parts *parts; /* of sections (opt_section.h), else NULL */
};

struct keys {
	struct key at[KEYS_MAX];
	cfg_opt_t schema[KEYS_MAX];
	uint32_t count;
};

/* libconfuse callbacks have no user argument. */
static struct reading {
	struct err *err;
	const char *path;
	bool found; /* the file belongs to the instance */
	struct keys outer, inner;
} * reading;

static void __attribute__((format(printf, 2, 0)))
on_error(cfg_t *cfg, const char *format, va_list args)
{
	char text[ERR_BYTES / 2];

	vsnprintf(text, sizeof(text), format, args);
	err_set(reading->err, "%s:%d: %s", reading->path, cfg ? cfg->line : 0,
	    text);
}

static struct key *
find_key(struct keys *keys, const char *name)
{
	for (uint32_t i = 0; i < keys->count; i++)
		if (strcmp(keys->at[i].name, name) == 0)
			return &keys->at[i];
	return NULL;
}

/* libconfuse calls it for every value as it reads it: only then the line is
 * known. */
static int
on_value(cfg_t *cfg, cfg_opt_t *option, const char *value, void *result)
{
	bool own = strcmp(cfg_name(cfg), "root") != 0;
	struct key *key = find_key(
	    own ? &reading->inner : &reading->outer, cfg_opt_name(option));
	struct err err = { 0 };

	/* libconfuse also accepts "section|key" as a name. */
	if (key == NULL || cfg_getopt(cfg, key->name) != option) {
		cfg_error(cfg, "%s: belongs inside the braces of its section",
		    cfg_opt_name(option));
		return -1;
	}
	key->file = reading->path;
	key->line = cfg->line;
	if (reading->found && strcmp(key->name, "dir") == 0)
		err_set(&err, "this file was found in the instance and cannot "
			      "name another instance");
	else if (key->opt != NULL)
		opt_check(key->opt, value, &err);
	if (err.code != ERR_NONE) {
		cfg_error(cfg, "%s: %s", key->name, err.text);
		return -1;
	}
	*(const char **)result = value;
	return 0;
}

/* The same for a value in a section of an option. */
static int
on_part(cfg_t *cfg, cfg_opt_t *option, const char *value, void *result)
{
	struct key *key = find_key(&reading->inner, cfg_name(cfg));

	(void)option;
	key->file = reading->path;
	key->line = cfg->line;
	*(const char **)result = value;
	return 0;
}

/* libconfuse copies the schema when it begins. */
static cfg_opt_t
section_of(struct key *key, const struct opt *opt)
{
	struct parts *parts = memory_zero(1, sizeof(*parts));
	uint32_t i = 0;

	for (; opt_section_key(opt, i).bytes > 0; i++) {
		struct text name = opt_section_key(opt, i);

		assert(i < OPT_SECTION_KEYS_MAX && name.bytes < KEY_BYTES);
		memcpy(parts->name[i], name.at, name.bytes);
		parts->schema[i] = (cfg_opt_t)CFG_STR_CB(
		    parts->name[i], NULL, CFGF_NODEFAULT, on_part);
	}
	parts->schema[i] = (cfg_opt_t)CFG_END();
	key->parts = parts;
	return (cfg_opt_t)CFG_SEC(
	    key->name, parts->schema, CFGF_MULTI | CFGF_TITLE);
}

static void
add_key(struct keys *keys, const char *name, const struct opt *opt, bool own)
{
	struct key *key = &keys->at[keys->count];

	assert(keys->count < KEYS_MAX - 2 && strlen(name) < KEY_BYTES);
	*key = (struct key){ .opt = opt, .own = own };
	for (size_t i = 0; name[i] != '\0'; i++)
		key->name[i] = name[i] == '-' ? '_' : name[i];
	if (opt != NULL && opt_section_is(opt))
		keys->schema[keys->count++] = section_of(key, opt);
	else if (opt != NULL && opt->type == OPT_LIST)
		keys->schema[keys->count++] = (cfg_opt_t)CFG_STR_LIST_CB(
		    key->name, NULL, CFGF_NODEFAULT, on_value);
	else
		keys->schema[keys->count++] = (cfg_opt_t)CFG_STR_CB(
		    key->name, NULL, CFGF_NODEFAULT, on_value);
}

static const struct opt *
find_option(const struct opt_program *program, const char *name)
{
	for (const struct opt_table *t = program->tables; t->options != NULL;
	     t++)
		for (const struct opt *o = t->options; o->name != NULL; o++)
			if (strcmp(o->name, name) == 0)
				return o;
	return NULL;
}

/* libconfuse treats every value as text; opt_check parses it. */
static void
make_schema(
    struct reading *r, const struct opt_program *program, const char *section)
{
	for (const struct opt_table *t = program->tables; t->options != NULL;
	     t++)
		for (const struct opt *o = t->options; o->name != NULL; o++)
			if ((o->flags & OPT_COMMAND) == 0)
				add_key(&r->inner, o->name, o, true);
	for (const char *const *name = config_shared; *name != NULL; name++)
		add_key(&r->outer, *name, find_option(program, *name), false);
	r->inner.schema[r->inner.count] = (cfg_opt_t)CFG_END();
	r->outer.schema[r->outer.count] =
	    (cfg_opt_t)CFG_SEC(section, r->inner.schema, CFGF_NONE);
	r->outer.schema[r->outer.count + 1] = (cfg_opt_t)CFG_END();
}

static int
parse_files(struct reading *r, cfg_t *cfg, struct config_files *files,
    const char *section, struct err *err)
{
	const char *wrong;
	uint32_t line;

	for (uint32_t i = 0; i < files->count; i++) {
		char *text = files->at[i].text;

		r->path = files->at[i].path;
		wrong = config_unclosed(text, &line);
		if (wrong != NULL)
			return err_set(err, "%s:%u: %s", r->path, line, wrong);
		config_blank_comments(text);
		config_blank_foreign(text, programs, section);
		err_set(err, "%s: not a valid configuration", r->path);
		if (cfg_parse_buf(cfg, text) != CFG_SUCCESS)
			return -1;
		err_clear(err);
	}
	return 0;
}

/* One of the option's sections as text. */
static char *
section_word(cfg_t *section, const struct opt *opt)
{
	struct opt_section parts = { .name = text_of(cfg_title(section)) };
	char name[KEY_BYTES];
	struct text key;

	for (uint32_t i = 0; (key = opt_section_key(opt, i)).bytes > 0; i++) {
		snprintf(name, sizeof(name), "%.*s", (int)key.bytes, key.at);
		parts.value[i] = text_of(cfg_getstr(section, name));
	}
	return opt_section_word(&parts, opt);
}

static int
take_value(struct config *config, cfg_t *section, const struct key *key,
    struct err *err)
{
	uint32_t count = cfg_size(section, key->name);
	struct config_value *value = &config->values[config->count];

	if (count > OPT_LIST_MAX)
		return err_set(err, "%s:%d: %s: more than %d words", key->file,
		    key->line, key->name, OPT_LIST_MAX);
	if (key->file == NULL || key->opt == NULL)
		return 0;
	*value = (struct config_value){ key->opt, key->file, key->line,
		memory_zero(count + 1, sizeof(char *)), 0 };
	config->count++;
	for (; value->count < count; value->count++) {
		const char *word;
		char **to = &value->words[value->count];

		if (!opt_section_is(key->opt)) {
			word = cfg_getnstr(section, key->name, value->count);
			*to = memory_string(word ? word : "");
			continue;
		}
		*to = section_word(
		    cfg_getnsec(section, key->name, value->count), key->opt);
		if (opt_check(key->opt, *to, err) != 0) {
			free(*to);
			return err_prefix(
			    err, "%s:%d: %s", key->file, key->line, key->name);
		}
	}
	return 0;
}

/* A key in a section overrides the one outside. */
static int
take_values(struct config *config, struct reading *r, cfg_t *cfg,
    const char *section, struct err *err)
{
	cfg_t *own = cfg_getsec(cfg, section);

	config->values = memory_zero(
	    r->inner.count + r->outer.count + 1, sizeof(*config->values));
	for (uint32_t i = 0; i < r->inner.count; i++)
		if (own != NULL &&
		    take_value(config, own, &r->inner.at[i], err) != 0)
			return -1;
	for (uint32_t i = 0; i < r->outer.count; i++)
		if (r->outer.at[i].opt != NULL &&
		    config_find(config, r->outer.at[i].opt) == NULL &&
		    take_value(config, cfg, &r->outer.at[i], err) != 0)
			return -1;
	return 0;
}

int
config_parse(struct config *config, const struct opt_program *program,
    bool found, struct err *err)
{
	const char *dash = strchr(program->name, '-');
	const char *section = dash ? dash + 1 : program->name;
	cfg_t *cfg;
	int rc = -1;

	if (program->section != NULL)
		section = program->section;
	reading = memory_zero(1, sizeof(*reading));
	reading->err = err;
	reading->found = found;
	make_schema(reading, program, section);
	cfg = memory_must(cfg_init(reading->outer.schema, CFGF_NONE));
	cfg_set_error_function(cfg, on_error);
	if (parse_files(reading, cfg, &config->files, section, err) == 0)
		rc = take_values(config, reading, cfg, section, err);
	cfg_free(cfg);
	for (uint32_t i = 0; i < reading->inner.count; i++)
		free(reading->inner.at[i].parts);
	free(reading);
	reading = NULL;
	return rc;
}

int
config_read(struct config *config, const struct opt_program *program,
    const char *path, struct err *err)
{
	char found[DEFAULT_DIR_BYTES];

	*config = (struct config){ .count = 0 };
	if (path == NULL && config_default(found, opt_common_values.dir) != 0)
		return 0;
	if (config_files_read(
		&config->files, path ? path : found, path != NULL, err) != 0)
		return -1;
	return config_parse(config, program, path == NULL, err);
}

void
config_clear(struct config *config)
{
	for (uint32_t i = 0; i < config->count; i++) {
		for (uint32_t j = 0; j < config->values[i].count; j++)
			free(config->values[i].words[j]);
		free(config->values[i].words);
	}
	free(config->values);
	config->values = NULL;
	config->count = 0;
	config_files_clear(&config->files);
}

const struct config_value *
config_find(const struct config *config, const struct opt *opt)
{
	for (uint32_t i = 0; i < config->count; i++)
		if (config->values[i].opt == opt)
			return &config->values[i];
	return NULL;
}
