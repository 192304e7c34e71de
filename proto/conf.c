/*
 * conf - the configuration file of a host (libconfuse).
 *
 * libconfuse wants a schema; it is made from the option tables of this
 * program.  Nobody has the tables of all programs, and libconfuse refuses what
 * its schema does not know, so the sections of other programs are blanked out
 * before it parses the text; line numbers stay.
 * SPDX-License-Identifier: MIT
 */
#include "proto/conf.h"

#include <confuse.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/conf_text.h"
#include "proto/text.h"

enum { KEYS_MAX = 128, FILE_BYTES_MAX = 1 << 20 };

static const char *const programs[] = { "agent", "emit", "import", "broker",
	"aggregator", "plot", "stats", "dump", "trace", "run", "generate",
	"upload", "results", "fetch", NULL };

/* libconfuse reports through a callback without an argument of ours. */
static struct err *reported;
static const char *reported_path;

static void __attribute__((format(printf, 2, 0)))
on_error(cfg_t *cfg, const char *format, va_list args)
{
	char text[256];

	vsnprintf(text, sizeof(text), format, args);
	err_set(
	    reported, "%s:%d: %s", reported_path, cfg ? cfg->line : 0, text);
}

static char *
key_of(const struct opt *opt)
{
	char *key = strdup(opt->name);

	if (key == NULL)
		abort();
	for (char *p = key; *p != '\0'; p++)
		if (*p == '-')
			*p = '_';
	return key;
}

/* A schema of the keys of `program`; every value is text, opt_set reads it. */
static unsigned
make_keys(const struct opt_program *program, cfg_opt_t *keys)
{
	unsigned count = 0;

	for (const struct opt *const *t = program->tables; *t != NULL; t++) {
		for (const struct opt *o = *t; o->name != NULL; o++) {
			if (strcmp(o->name, "config") == 0 ||
			    count == KEYS_MAX - 32)
				continue;
			if (o->type == OPT_LIST)
				keys[count++] = (cfg_opt_t)CFG_STR_LIST(
				    key_of(o), NULL, CFGF_NODEFAULT);
			else
				keys[count++] = (cfg_opt_t)CFG_STR(
				    key_of(o), NULL, CFGF_NODEFAULT);
		}
	}
	return count;
}

static int
apply_key(cfg_t *section, const struct opt *opt, struct err *err)
{
	char *key = key_of(opt);
	unsigned values = cfg_size(section, key);
	int rc = 0;

	for (unsigned i = 0; i < values && rc == 0; i++) {
		const char *value = cfg_getnstr(section, key, i);
		char *copy = value ? strdup(value) : NULL;

		if (copy != NULL && opt_set(opt, copy, err) != 0)
			rc = -1;
		/* Texts are kept as long as the process lives. */
		if (opt->type != OPT_TEXT && opt->type != OPT_LIST)
			free(copy);
	}
	free(key);
	return rc;
}

/* Outer keys first, so that the section of the program wins. */
static int
apply(cfg_t *cfg, const struct opt_program *program, const char *section,
    struct err *err)
{
	cfg_t *own = cfg_size(cfg, section) ? cfg_getsec(cfg, section) : NULL;

	for (const struct opt *const *t = program->tables; *t != NULL; t++) {
		for (const struct opt *o = *t; o->name != NULL; o++) {
			char *key;
			bool in_own;

			if (strcmp(o->name, "config") == 0 ||
			    opt_origin(o) > OPT_FILE)
				continue;
			key = key_of(o);
			in_own = own && cfg_size(own, key) > 0;
			free(key);
			if (apply_key(in_own ? own : cfg, o, err) != 0)
				return -1;
		}
	}
	return 0;
}

/* Is there, at `p`, the name of a program other than `own`, and a brace
 * behind it? */
static bool
is_foreign(const char *p, const char *own)
{
	size_t bytes = strspn(p, "abcdefghijklmnopqrstuvwxyz");
	const char *brace = p + bytes + strspn(p + bytes, " \t\r\n");

	for (const char *const *name = programs; *name != NULL; name++)
		if (strlen(*name) == bytes && memcmp(*name, p, bytes) == 0)
			return *brace == '{' && strcmp(*name, own) != 0;
	return false;
}

static void
blank_foreign(char *text, const char *own)
{
	bool word = true; /* does a word begin here? */

	for (char *p = text; *p != '\0';) {
		char *end = conf_skip(text, p);
		int depth = 0;

		if (end == p && word && is_foreign(p, own)) {
			do {
				end = conf_skip(text, p);
				if (end == p) {
					depth += (*p == '{') - (*p == '}');
					end = p + 1;
				}
				if (depth == 0 && p[0] == '}')
					word = true;
				for (; p < end; p++)
					if (*p != '\n' && *p != '}')
						*p = ' ';
				if (p[-1] == '}') {
					p[-1] = ' ';
					if (depth == 0)
						break;
				}
			} while (*p != '\0');
			continue;
		}
		if (end == p)
			end = p + 1;
		word = strchr(" \t\r\n}", end[-1]) != NULL;
		p = end;
	}
}

/* libconfuse takes the end of the file for the end of every section: a file
 * cut short must not pass. */
static int
check_braces(const char *path, char *text, struct err *err)
{
	int depth = 0;

	for (char *p = text; *p != '\0';) {
		char *end = conf_skip(text, p);

		depth += (*p == '{' && end == p) - (*p == '}' && end == p);
		p = end == p ? p + 1 : end;
	}
	if (depth <= 0)
		return 0;
	return err_set(err, "%s: a section is not closed", path);
}

/* Returns the file's text (caller frees), or NULL. */
static char *
read_file(const char *path, struct err *err)
{
	FILE *file = fopen(path, "re");
	char *text = malloc(FILE_BYTES_MAX + 1);
	size_t bytes = 0;

	if (text == NULL)
		abort();
	if (file != NULL)
		bytes = fread(text, 1, FILE_BYTES_MAX + 1, file);
	if (file == NULL || ferror(file))
		err_set(err, "%s: cannot be read: %s", path, strerror(errno));
	else if (bytes > FILE_BYTES_MAX)
		err_set(err, "%s: is longer than 1 MiB", path);
	else if (memchr(text, '\0', bytes) != NULL)
		err_set(err, "%s: holds a NUL byte", path);
	else
		text[bytes] = '\0', bytes = SIZE_MAX;
	if (file != NULL)
		fclose(file);
	if (bytes != SIZE_MAX) {
		free(text);
		return NULL;
	}
	return text;
}

static void
free_keys(cfg_opt_t *keys, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		/* The schema holds the only pointer to what key_of made. */
		union {
			const char *in;
			char *out;
		} name = { keys[i].name };

		free(name.out);
	}
}

int
conf_load(const char *path, const struct opt_program *program, struct err *err)
{
	cfg_opt_t outer[KEYS_MAX], inner[KEYS_MAX];
	const char *section = strchr(program->name, '-');
	char *text = read_file(path, err);
	unsigned outer_keys, inner_keys;
	cfg_t *cfg;
	int rc = -1;

	if (text == NULL || check_braces(path, text, err) != 0) {
		free(text);
		return -1;
	}
	section = section ? section + 1 : program->name;
	conf_blank_comments(text);
	blank_foreign(text, section);
	outer_keys = make_keys(program, outer);
	inner_keys = make_keys(program, inner);
	inner[inner_keys] = (cfg_opt_t)CFG_END();
	outer[outer_keys] = (cfg_opt_t)CFG_SEC(section, inner, CFGF_NONE);
	outer[outer_keys + 1] = (cfg_opt_t)CFG_END();
	reported = err;
	reported_path = path;
	err_set(err, "%s: is not a configuration", path);
	cfg = cfg_init(outer, CFGF_NONE);
	if (cfg == NULL)
		abort();
	cfg_set_error_function(cfg, on_error);
	if (cfg_parse_buf(cfg, text) == CFG_SUCCESS) {
		rc = apply(cfg, program, section, err);
		if (rc != 0)
			err_prefix(err, "%s", path);
	}
	cfg_free(cfg);
	reported = NULL;
	free_keys(outer, outer_keys);
	free_keys(inner, inner_keys);
	free(text);
	return rc;
}
