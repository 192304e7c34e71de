/*
 * opt_value - the values of options, and their origin.
 * SPDX-License-Identifier: MIT
 */
#include "proto/config/opt_value.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/config/opt_section.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum { VALUES_MAX = 128 };

static struct opt_value values[VALUES_MAX];
static uint32_t value_count;

/* ---- one value ---- */

static bool
find_choice(const struct opt *opt, const char *word, int *to)
{
	size_t bytes = strlen(word);
	int index = 0;

	for (const char *p = opt->choices; p != NULL; index++) {
		size_t n = strcspn(p, "|");

		if (n == bytes && memcmp(p, word, n) == 0) {
			*to = index;
			return true;
		}
		p = p[n] == '|' ? p + n + 1 : NULL;
	}
	return false;
}

/* All types but OPT_LIST. */
static int
parse(const struct opt *opt, const char *word, union opt_plain *to,
    struct err *err)
{
	struct text t = text_of(word);
	struct opt_section ignored;

	switch (opt->type) {
	case OPT_FLAG:
		if (strcmp(word, "true") != 0 && strcmp(word, "false") != 0)
			return err_set(err, "must be true or false");
		to->flag = word[0] == 't';
		return 0;
	case OPT_LIST:
		to->text = word;
		return opt_section_is(opt)
			   ? opt_section_parse(&ignored, opt, word, err)
			   : 0;
	case OPT_TEXT: to->text = word; return 0;
	case OPT_ZONE: to->text = word; return clock_check_zone(word, err);
	case OPT_COUNT: return number_parse_u64(t, &to->number, err);
	case OPT_BYTES: return number_parse_bytes(t, &to->number, err);
	case OPT_DURATION:
		if (clock_parse_duration(t, &to->ns, err) != 0)
			return -1;
		if (to->ns < 0)
			return err_set(err, "'%.64s' is negative", word);
		return 0;
	case OPT_TIME:
		if (find_choice(opt, word, &to->index)) {
			to->ns = OPT_TIME_WORD(to->index);
			return 0;
		}
		return clock_parse_time(t, clock_wall_ns(), &to->ns, err);
	case OPT_CHOICE:
		if (find_choice(opt, word, &to->index))
			return 0;
		return err_set(err, "must be one of %s", opt->choices);
	}
	return err_set(err, "has no type");
}

int
opt_check(const struct opt *opt, const char *word, struct err *err)
{
	union opt_plain ignored;

	return parse(opt, word, &ignored, err);
}

static void
store(const struct opt *opt, void *to, const union opt_plain *plain)
{
	struct opt_list *list = to;

	switch (opt->type) {
	case OPT_FLAG: *(bool *)to = plain->flag; break;
	case OPT_ZONE:
	case OPT_TEXT: *(const char **)to = plain->text; break;
	case OPT_LIST:
		assert(list->count < OPT_LIST_MAX);
		list->at[list->count++] = plain->text;
		break;
	case OPT_COUNT:
	case OPT_BYTES: *(uint64_t *)to = plain->number; break;
	case OPT_DURATION:
	case OPT_TIME: *(int64_t *)to = plain->ns; break;
	case OPT_CHOICE: *(int *)to = plain->index; break;
	}
}

int
opt_put(
    const struct opt *opt, void *to_values, const char *word, struct err *err)
{
	char *to = (char *)to_values + (size_t)opt->to;
	union opt_plain plain;

	if (parse(opt, word, &plain, err) != 0)
		return -1;
	if (opt->type == OPT_LIST &&
	    ((struct opt_list *)(void *)to)->count == OPT_LIST_MAX)
		return err_set(
		    err, "is given more than %d times", OPT_LIST_MAX);
	store(opt, to, &plain);
	return 0;
}

static union opt_plain
load(const struct opt *opt, const void *to)
{
	union opt_plain plain = { .text = NULL };

	switch (opt->type) {
	case OPT_FLAG: plain.flag = *(const bool *)to; break;
	case OPT_ZONE:
	case OPT_TEXT: plain.text = *(const char *const *)to; break;
	case OPT_LIST: break;
	case OPT_COUNT:
	case OPT_BYTES: plain.number = *(const uint64_t *)to; break;
	case OPT_DURATION:
	case OPT_TIME: plain.ns = *(const int64_t *)to; break;
	case OPT_CHOICE: plain.index = *(const int *)to; break;
	}
	return plain;
}

/* Assign `value` to the program's variable. */
static void
put(const struct opt_value *value)
{
	const struct opt *opt = value->opt;
	union opt_plain plain = value->initial;

	if (opt->type == OPT_LIST)
		((struct opt_list *)value->to)->count = 0;
	for (uint32_t i = 0; i < value->count; i++) {
		/* It was parsed before. */
		if (parse(opt, value->words[i], &plain, NULL) != 0)
			abort();
		if (opt->type == OPT_LIST)
			store(opt, value->to, &plain);
	}
	if (opt->type != OPT_LIST)
		store(opt, value->to, &plain);
}

/* ---- all options ---- */

static void
add_value(const struct opt *opt, void *values_of)
{
	/* Without a struct opt->to is the address, not an offset. */
	void *to = (void *)((uintptr_t)values_of + (uintptr_t)opt->to);

	assert(value_count < VALUES_MAX);
	values[value_count++] = (struct opt_value){
		.opt = opt, .to = to, .initial = load(opt, to)
	};
}

void
opt_values_begin(const struct opt_program *program)
{
	for (uint32_t i = 0; i < value_count; i++)
		free(values[i].words);
	value_count = 0;
	for (const struct opt_table *t = program->tables; t->options != NULL;
	     t++)
		for (const struct opt *o = t->options; o->name != NULL; o++)
			add_value(o, t->values);
}

const struct opt_value *
opt_value_at(uint32_t index)
{
	return index < value_count ? &values[index] : NULL;
}

static struct opt_value *
find(const struct opt *opt)
{
	for (uint32_t i = 0; i < value_count; i++)
		if (values[i].opt == opt)
			return &values[i];
	return NULL;
}

enum opt_from
opt_origin(const struct opt *opt)
{
	const struct opt_value *value = find(opt);

	return value ? value->from : OPT_DEFAULT;
}

enum opt_from
opt_origin_of(const void *variable)
{
	for (uint32_t i = 0; i < value_count; i++)
		if (values[i].to == variable)
			return values[i].from;
	return OPT_DEFAULT;
}

static void
add_word(struct opt_value *value, const char *word)
{
	value->words = memory_resize(
	    value->words, (value->count + 1) * sizeof(*value->words));
	value->words[value->count++] = word;
}

int
opt_value_assign(const struct opt *opt, const char *word, enum opt_from from,
    struct err *err)
{
	struct opt_value *value = find(opt);

	assert(value != NULL);
	if (opt_check(opt, word, err) != 0)
		return -1;
	if (value->from != from || opt->type != OPT_LIST)
		value->count = 0;
	if (value->count == OPT_LIST_MAX)
		return err_set(
		    err, "is given more than %d times", OPT_LIST_MAX);
	add_word(value, word);
	value->from = from;
	put(value);
	return 0;
}

int
opt_value_set_zone(struct err *err)
{
	union opt_plain ignored;
	bool is_set = false;

	for (uint32_t i = 0; i < value_count; i++) {
		if (values[i].opt->type != OPT_ZONE || values[i].count == 0)
			continue;
		if (clock_set_zone(values[i].words[0], err) != 0)
			return -1;
		is_set = true;
	}
	for (uint32_t i = 0; is_set && i < value_count; i++) {
		if (values[i].opt->type != OPT_TIME || values[i].count == 0)
			continue;
		if (parse(values[i].opt, values[i].words[0], &ignored, err) !=
		    0)
			return err_prefix(err, "--%s", values[i].opt->name);
		put(&values[i]);
	}
	return 0;
}

/* ---- from files ---- */

/* Values from files are never freed, because programs keep views of them.  One
 * copy of each is enough: reloading the same values needs no memory. */
static struct seen {
	struct seen *next;
	char word[];
} * seen;

static const char *
intern(const char *word)
{
	size_t bytes = strlen(word) + 1;
	struct seen *s;

	for (s = seen; s != NULL; s = s->next)
		if (strcmp(s->word, word) == 0)
			return s->word;
	s = memory_alloc(sizeof(*s) + bytes);
	memcpy(s->word, word, bytes);
	s->next = seen;
	seen = s;
	return s->word;
}

static void
set_from(struct opt_value *value, const struct config_value *configured)
{
	value->count = 0;
	value->from = configured ? OPT_FILE : OPT_DEFAULT;
	value->file = configured ? intern(configured->file) : NULL;
	value->line = configured ? configured->line : 0;
	for (uint32_t i = 0; configured != NULL && i < configured->count; i++)
		add_word(value, intern(configured->words[i]));
}

void
opt_value_apply(const struct config *config)
{
	for (uint32_t i = 0; i < value_count; i++) {
		const struct config_value *configured =
		    config_find(config, values[i].opt);

		if (values[i].from > OPT_FILE || configured == NULL)
			continue;
		set_from(&values[i], configured);
		put(&values[i]);
	}
}

/* ---- while the process runs ---- */

/* Of the options that opt_value_change has changed. */
static struct opt_value before[VALUES_MAX];
static uint32_t before_count;

static bool
is_unchanged(
    const struct opt_value *value, const struct config_value *configured)
{
	if (value->count != (configured ? configured->count : 0))
		return false;
	for (uint32_t i = 0; i < value->count; i++)
		if (strcmp(value->words[i], configured->words[i]) != 0)
			return false;
	return true;
}

void
opt_value_change(const struct config *config)
{
	before_count = 0;
	for (uint32_t i = 0; i < value_count; i++) {
		struct opt_value *value = &values[i];
		const struct config_value *configured =
		    config_find(config, value->opt);

		if (value->from > OPT_FILE)
			continue;
		if (is_unchanged(value, configured)) {
			value->line = configured ? configured->line : 0;
			value->file =
			    configured ? intern(configured->file) : NULL;
			value->reported = NULL;
		} else if ((value->opt->flags & OPT_RELOAD) != 0) {
			before[before_count++] = *value;
			value->words = NULL;
			set_from(value, configured);
			put(value);
		}
	}
}

void
opt_value_undo(void)
{
	for (uint32_t i = 0; i < before_count; i++) {
		struct opt_value *value = find(before[i].opt);

		free(value->words);
		*value = before[i];
		put(value);
	}
	before_count = 0;
}

/* Once for each value: repeated HUPs must not repeat the warning. */
static void
warn_restart(struct opt_value *value, const struct config_value *configured)
{
	const char *what =
	    intern(configured && configured->count ? configured->words[0] : "");

	if (value->reported == what)
		return;
	value->reported = what;
	if (configured != NULL)
		log_warn("%s:%d: changing %s requires a restart",
		    configured->file, configured->line, value->opt->name);
	else
		log_warn("%s was removed from the configuration; the change "
			 "requires a restart",
		    value->opt->name);
}

void
opt_value_keep(const struct config *config)
{
	char text[256], origin[DEFAULT_DIR_BYTES];

	for (uint32_t i = 0; i < before_count; i++) {
		const struct opt_value *value = find(before[i].opt);

		opt_value_text(value, text, sizeof(text));
		log_info("%s is now %s (%s)", value->opt->name,
		    text[0] ? text : "nothing",
		    opt_value_origin(value, origin, sizeof(origin)));
		free(before[i].words);
	}
	before_count = 0;
	for (uint32_t i = 0; i < value_count; i++) {
		const struct config_value *configured =
		    config_find(config, values[i].opt);

		if (values[i].from <= OPT_FILE &&
		    (values[i].opt->flags & OPT_RELOAD) == 0 &&
		    !is_unchanged(&values[i], configured))
			warn_restart(&values[i], configured);
	}
}

void
opt_value_locate(struct err *err)
{
	if (err->code != ERR_OPTION)
		return;
	for (uint32_t i = 0; i < value_count; i++)
		if (strcmp(values[i].opt->name, err->option) == 0 &&
		    values[i].from == OPT_FILE) {
			err_prefix(
			    err, "%s:%d", values[i].file, values[i].line);
			err->code = ERR_CONFIG;
			return;
		}
}
