/*
 * parse - the language of models (poolscope-model(5)): its sections, its words
 * and what their values may be.
 *
 * A new word: its field is in model.h; set.c and run.c store it; show.c prints
 * it; aggregator/indexer/match.c uses it; poolscope-model(5).
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/model/model.h"

#include <confuse.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/config/config_text.h"
#include "proto/os/clock.h"

/* libconfuse reports errors through a callback without a user argument. */
static pthread_mutex_t reporting = PTHREAD_MUTEX_INITIALIZER;
static struct err *reported;
static const char *reported_path;

static void __attribute__((format(printf, 2, 0)))
on_error(cfg_t *cfg, const char *format, va_list args)
{
	char text[256], shown[300];

	if (reported == NULL || reported->text[0] != '\0')
		return; /* the first one is the cause */
	vsnprintf(text, sizeof(text), format, args);
	err_set(reported, "%s:%d: %s", reported_path,
	    cfg && cfg->line > 0 ? cfg->line : 1,
	    text_check_name(text_of(text)) == TEXT_OK
		? text
		: text_quote(shown, sizeof(shown), text_of(text)));
}

static bool
is_event(const char *name)
{
	const char *colon = name ? strchr(name, ':') : NULL;

	return colon != NULL && colon != name && colon[1] != '\0' &&
	       text_check_name(text_of(name)) == TEXT_OK;
}

static bool
is_attribute(const char *name)
{
	return name == NULL || text_check_name(text_of(name)) == TEXT_OK;
}

/* libconfuse calls this at the end of each phase, so the line number is
 * right. */
static int
check_phase(cfg_t *cfg, cfg_opt_t *opt)
{
	cfg_t *phase = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
	const char *title = cfg_title(phase);
	const char *start = cfg_getstr(phase, "start");
	const char *end = cfg_getstr(phase, "end");
	const char *scope = cfg_getstr(phase, "scope");
	const char *run = cfg_getstr(phase, "run");
	const char *unmatched = cfg_getstr(phase, "unmatched");
	const char *pairing = cfg_getstr(phase, "pairing");
	const char *wrong = NULL;

	/* These options have defaults. */
	if (scope == NULL || unmatched == NULL || pairing == NULL)
		memory_exhausted(0);
	if (text_check_name(text_of(title)) != TEXT_OK)
		wrong = "is not a name";
	else if (!is_event(start) || !is_event(end))
		wrong = "needs start and end, each \"source:name\"";
	else if (strcmp(start, end) == 0)
		wrong = "starts and ends with the same event";
	else if (strcmp(scope, "node") != 0 && strcmp(scope, "run") != 0)
		wrong = "has an invalid scope: use \"node\" or \"run\"";
	else if ((strcmp(scope, "run") == 0) != (run != NULL))
		wrong = "needs run = \"attribute\" with scope \"run\", and "
			"must not have it otherwise";
	else if (!is_attribute(run) ||
		 !is_attribute(cfg_getstr(phase, "key")) ||
		 !is_attribute(cfg_getstr(phase, "measured")) ||
		 !is_attribute(cfg_getstr(phase, "bytes")))
		wrong = "names an attribute that is not a name";
	else if (strcmp(unmatched, "incomplete") != 0 &&
		 strcmp(unmatched, "ignore") != 0)
		wrong = "has an invalid unmatched: use \"incomplete\" or "
			"\"ignore\"";
	else if (strcmp(pairing, "nearest") != 0 &&
		 strcmp(pairing, "fifo") != 0)
		wrong = "has an invalid pairing: use \"nearest\" or \"fifo\"";
	else if (cfg_getint(phase, "places") < 0 ||
		 cfg_getint(phase, "places") > MODEL_PLACES_MAX)
		wrong = "has an invalid number of places: use 1 to 1000000, or "
			"leave it out";
	if (wrong == NULL)
		return 0;
	cfg_error(cfg, "phase \"%s\" %s", title ? title : "", wrong);
	return -1;
}

/* What phases wait for; called when all are known.  -1: err has the phase. */
static int
check_waits(cfg_t *cfg, cfg_t *phase, const char *path, struct err *err)
{
	char shown[2][300];

	for (int wait = 0; wait < MODEL_WAITS; wait++) {
		const char *word = model_wait_words[wait];
		size_t bytes = 0;

		for (unsigned i = 0; i < cfg_size(phase, word); i++) {
			const char *name = cfg_getnstr(phase, word, i);
			struct text title = text_of(cfg_title(phase));

			bytes += strlen(name) + 1;
			if (cfg_opt_gettsec(cfg_getopt(cfg, "phase"), name) ==
			    NULL)
				return err_set(err,
				    "%s:1: phase %s is %s phase %s, which this "
				    "model does not define",
				    path,
				    text_quote(
					shown[0], sizeof(shown[0]), title),
				    word,
				    text_quote(shown[1], sizeof(shown[1]),
					text_of(name)));
			if (bytes > MODEL_WAIT_BYTES_MAX)
				return err_set(err,
				    "%s:1: phase %s has more than %d bytes of "
				    "names in %s",
				    path,
				    text_quote(
					shown[0], sizeof(shown[0]), title),
				    MODEL_WAIT_BYTES_MAX, word);
		}
	}
	return 0;
}

static int
check_view(cfg_t *cfg, cfg_opt_t *opt)
{
	cfg_t *view = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
	const char *title = cfg_title(view);
	unsigned i;

	if (text_check_name(text_of(title)) != TEXT_OK) {
		cfg_error(cfg, "view \"%s\" is not a name", title ? title : "");
		return -1;
	}
	for (i = 0; i < cfg_size(view, "sum"); i++) {
		const char *name = cfg_getnstr(view, "sum", i);

		if (name != NULL &&
		    cfg_opt_gettsec(cfg_getopt(cfg, "phase"), name) != NULL)
			continue;
		cfg_error(cfg,
		    "view \"%s\" sums phase \"%s\", which is not defined above "
		    "it",
		    title, name ? name : "");
		return -1;
	}
	if (i > 0)
		return 0;
	cfg_error(cfg, "view \"%s\" sums no phases", title);
	return -1;
}

static const char *const run_properties[] = { "group", "requestor", "error" };

static const char *
what_is_wrong_with_run(cfg_t *run)
{
	static const char *const events[] = { "begun", "ended" };

	if (cfg_getstr(run, "attribute") == NULL ||
	    !is_attribute(cfg_getstr(run, "attribute")))
		return "needs attribute, which names the run of an event";
	if (!is_attribute(cfg_getstr(run, "kind")))
		return "has a kind that is not a name";
	for (unsigned i = 0; i < 3; i++)
		if (!is_attribute(cfg_getstr(run, run_properties[i])))
			return "has a property that is not a name";
	for (unsigned i = 0; i < 2; i++)
		if (cfg_getstr(run, events[i]) != NULL &&
		    !is_event(cfg_getstr(run, events[i])))
			return "has a begun or ended that is not "
			       "\"source:name\"";
	if (cfg_size(run, "properties") > RECORD_ATTRIBUTES_MAX)
		return "has more than 64 properties";
	for (unsigned i = 0; i < cfg_size(run, "properties"); i++)
		if (!is_attribute(cfg_getnstr(run, "properties", i)))
			return "has a property that is not a name";
	return NULL;
}

static int
check_run(cfg_t *cfg, cfg_opt_t *opt)
{
	cfg_t *run = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
	const char *wrong = what_is_wrong_with_run(run);

	if (cfg_opt_size(opt) > 1)
		wrong = "comes twice";
	if (wrong == NULL)
		return 0;
	cfg_error(cfg, "run %s", wrong);
	return -1;
}

/* A share is kept in millionths: 90 % of 10 nodes are 9, whatever 0.9 is in
 * binary. */
static struct model_pool
pool_of(cfg_t *section)
{
	const char *gap = cfg_getstr(section, "gap");
	double share = cfg_getfloat(section, "ready_share");
	struct model_pool pool = { 0, 0 };
	int64_t gap_ns;

	if (share < 1)
		pool.share = (unsigned)lround(share * MODEL_SHARE_ALL);
	if (gap != NULL &&
	    clock_parse_duration(text_of(gap), &gap_ns, NULL) == 0)
		pool.gap_ns = (uint64_t)gap_ns;
	return pool;
}

static int
check_pool(cfg_t *cfg, cfg_opt_t *opt)
{
	cfg_t *section = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
	double share = cfg_getfloat(section, "ready_share");
	const char *wrong = NULL;

	if (cfg_opt_size(opt) > 1)
		wrong = "comes twice";
	else if (!(share * MODEL_SHARE_ALL >= 1 && share <= 1))
		wrong = "has a ready_share that is not above 0 and at most 1";
	else if (cfg_getstr(section, "gap") != NULL &&
		 pool_of(section).gap_ns < NS_PER_SECOND)
		wrong = "has a gap that is no time of at least 1s, such as "
			"\"5m\"";
	if (wrong == NULL)
		return 0;
	cfg_error(cfg, "pool %s", wrong);
	return -1;
}

static int
check_message(cfg_t *cfg, cfg_opt_t *opt)
{
	const char *value = cfg_opt_getnstr(opt, 0);

	if (value != NULL && strcmp(value, "kv") == 0)
		return 0;
	cfg_error(cfg, "message can only be \"kv\"");
	return -1;
}

/* "pull\nload" of { "pull", "load" }. */
static struct text
join_names(
    char to[static MODEL_WAIT_BYTES_MAX], cfg_t *section, const char *word)
{
	uint32_t used = 0;

	for (unsigned i = 0; i < cfg_size(section, word); i++) {
		struct text name = text_of(cfg_getnstr(section, word, i));

		if (i > 0)
			to[used++] = '\n';
		memcpy(to + used, name.at, name.bytes);
		used += name.bytes;
	}
	return (struct text){ to, used };
}

static void
take_phase(struct model_set *set, cfg_t *section, struct text model,
    struct model_pool pool, bool kv)
{
	char waits[MODEL_WAITS][MODEL_WAIT_BYTES_MAX];
	const char *unmatched = cfg_getstr(section, "unmatched");
	char id[2 * NAME_BYTES_MAX + 2];
	struct model_phase phase = {
		.id = { id,
		    (uint32_t)snprintf(id, sizeof(id), "%.*s:%s",
			(int)model.bytes, model.at, cfg_title(section)) },
		.start = text_of(cfg_getstr(section, "start")),
		.end = text_of(cfg_getstr(section, "end")),
		.run = text_of(cfg_getstr(section, "run")),
		.key = text_of(cfg_getstr(section, "key")),
		.measured = text_of(cfg_getstr(section, "measured")),
		.place = set->phases,
		.kv = kv,
		.required = cfg_getbool(section, "required"),
		.ignore_unmatched = strcmp(unmatched, "ignore") == 0,
		.fifo = strcmp(cfg_getstr(section, "pairing"), "fifo") == 0,
		.places = (unsigned)cfg_getint(section, "places"),
		.bytes = text_of(cfg_getstr(section, "bytes")),
		.pool = pool,
	};

	for (int i = 0; i < MODEL_WAITS; i++)
		phase.waits[i] =
		    join_names(waits[i], section, model_wait_words[i]);
	model_set_add(set, &phase);
}

static void
take_view(struct model_set *set, cfg_t *section, struct text model)
{
	struct model_view *view;
	unsigned i;

	set->view =
	    memory_resize(set->view, (set->views + 1) * sizeof(*set->view));
	view = &set->view[set->views++];
	view->id = model_set_own(set, model, ":", text_of(cfg_title(section)));
	view->sums = cfg_size(section, "sum");
	view->sum = memory_zero(view->sums, sizeof(*view->sum));
	for (i = 0; i < view->sums; i++)
		view->sum[i] = model_set_own(
		    set, model, ":", text_of(cfg_getnstr(section, "sum", i)));
}

static int
take_run(struct model_set *set, cfg_t *section, const char *path,
    struct text model, struct err *err)
{
	struct text property[RECORD_ATTRIBUTES_MAX];
	struct model_run run = {
		.model = model,
		.attribute = text_of(cfg_getstr(section, "attribute")),
		.kind = text_of(cfg_getstr(section, "kind")),
		.group = text_of(cfg_getstr(section, "group")),
		.requestor = text_of(cfg_getstr(section, "requestor")),
		.error = text_of(cfg_getstr(section, "error")),
		.property = property,
		.properties = cfg_size(section, "properties"),
	};

	for (unsigned i = 0; i < run.properties; i++)
		property[i] = text_of(cfg_getnstr(section, "properties", i));
	if (model_set_add_run(set, &run, text_of(cfg_getstr(section, "begun")),
		text_of(cfg_getstr(section, "ended")), err) == 0)
		return 0;
	return err_prefix(err, "%s:1", path);
}

static unsigned
roles_of(const struct model_set *set, struct text event)
{
	unsigned i, roles = 0;

	for (i = 0; i < set->phases; i++) {
		roles += text_equal(event, set->phase[i].start);
		roles += text_equal(event, set->phase[i].end);
	}
	return roles;
}

/* Check the limits that apply to all models together. */
static int
check_group(const struct model_set *set, const char *path, struct err *err)
{
	unsigned i;

	if (set->phases > MODEL_PHASES_MAX)
		return err_set(err,
		    "%s:1: more than %d phases in all models: leave some files "
		    "out",
		    path, MODEL_PHASES_MAX);
	for (i = 0; i < set->phases; i++) {
		const struct model_phase *phase = &set->phase[i];

		if (phase->id.bytes > NAME_BYTES_MAX)
			return err_set(err,
			    "%s:1: the name of the model and of its phase "
			    "together %s",
			    path, text_fault_words(TEXT_TOO_LONG));
		if (roles_of(set, phase->start) > MODEL_ROLES_MAX ||
		    roles_of(set, phase->end) > MODEL_ROLES_MAX)
			return err_set(err,
			    "%s:1: an event of phase %.*s starts or ends more "
			    "than %d phases",
			    path, (int)phase->id.bytes, phase->id.at,
			    MODEL_ROLES_MAX);
	}
	return 0;
}

static int
take_model(struct model_set *set, cfg_t *cfg, const char *path,
    struct text name, struct err *err)
{
	bool kv = cfg_getstr(cfg, "message") != NULL;
	struct model_pool pool = { 0, 0 };
	unsigned phases = set->phases, views = set->views, i;
	int rc;

	for (i = 0; i < cfg_size(cfg, "phase"); i++)
		if (check_waits(cfg, cfg_getnsec(cfg, "phase", i), path, err) !=
		    0)
			return -1;
	if (cfg_size(cfg, "pool") > 0)
		pool = pool_of(cfg_getnsec(cfg, "pool", 0));
	for (i = 0; i < cfg_size(cfg, "phase"); i++)
		take_phase(set, cfg_getnsec(cfg, "phase", i), name, pool, kv);
	for (i = 0; i < cfg_size(cfg, "view"); i++)
		take_view(set, cfg_getnsec(cfg, "view", i), name);
	rc = check_group(set, path, err);
	if (rc == 0 && cfg_size(cfg, "run") > 0)
		rc = take_run(set, cfg_getnsec(cfg, "run", 0), path, name, err);
	if (rc == 0)
		return 0;
	set->phases = phases;
	while (set->views > views)
		free(set->view[--set->views].sum);
	return -1;
}

/* The options that a file may set; libconfuse copies this table. */
static cfg_t *
open_grammar(void)
{
	cfg_opt_t phase[] = { CFG_STR("start", NULL, CFGF_NODEFAULT),
		CFG_STR("end", NULL, CFGF_NODEFAULT),
		CFG_STR("scope", "node", CFGF_NONE),
		CFG_STR("run", NULL, CFGF_NODEFAULT),
		CFG_STR("key", NULL, CFGF_NODEFAULT),
		CFG_STR("measured", NULL, CFGF_NODEFAULT),
		CFG_STR("unmatched", "incomplete", CFGF_NONE),
		CFG_STR("pairing", "nearest", CFGF_NONE),
		CFG_BOOL("required", cfg_false, CFGF_NONE),
		CFG_STR_LIST("after", NULL, CFGF_NODEFAULT),
		CFG_STR_LIST("after_any", NULL, CFGF_NODEFAULT),
		CFG_STR_LIST("end_after", NULL, CFGF_NODEFAULT),
		CFG_INT("places", 0, CFGF_NONE),
		CFG_STR("bytes", NULL, CFGF_NODEFAULT), CFG_END() };
	cfg_opt_t pool[] = { CFG_FLOAT("ready_share", 1, CFGF_NONE),
		CFG_STR("gap", NULL, CFGF_NODEFAULT), CFG_END() };
	cfg_opt_t view[] = { CFG_STR_LIST("sum", NULL, CFGF_NODEFAULT),
		CFG_END() };
	cfg_opt_t run[] = { CFG_STR("attribute", NULL, CFGF_NODEFAULT),
		CFG_STR("kind", "run", CFGF_NONE),
		CFG_STR("group", NULL, CFGF_NODEFAULT),
		CFG_STR("requestor", NULL, CFGF_NODEFAULT),
		CFG_STR("error", NULL, CFGF_NODEFAULT),
		CFG_STR("begun", NULL, CFGF_NODEFAULT),
		CFG_STR("ended", NULL, CFGF_NODEFAULT),
		CFG_STR_LIST("properties", NULL, CFGF_NODEFAULT), CFG_END() };
	cfg_opt_t file[] = { CFG_STR("message", NULL, CFGF_NODEFAULT),
		CFG_SEC("run", run, CFGF_MULTI),
		CFG_SEC("pool", pool, CFGF_MULTI),
		CFG_SEC("phase", phase,
		    CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
		CFG_SEC("view", view,
		    CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
		CFG_END() };
	cfg_t *cfg = memory_must(cfg_init(file, CFGF_NONE));

	cfg_set_error_function(cfg, on_error);
	cfg_set_validate_func(cfg, "phase", check_phase);
	cfg_set_validate_func(cfg, "view", check_view);
	cfg_set_validate_func(cfg, "run", check_run);
	cfg_set_validate_func(cfg, "pool", check_pool);
	cfg_set_validate_func(cfg, "message", check_message);
	return cfg;
}

int
model_parse(struct model_set *set, const char *path, struct text name,
    struct text text, struct err *err)
{
	struct err first = { 0 };
	char *copy = memory_text(text);
	const char *unclosed;
	uint32_t line;
	cfg_t *cfg;
	int rc = -1;

	config_blank_comments(copy);
	pthread_mutex_lock(&reporting);
	reported = &first;
	reported_path = path;
	cfg = open_grammar();
	if (text_check_name(name) != TEXT_OK)
		err_set(&first, "%s:1: the name of the model %s", path,
		    text_fault_words(text_check_name(name)));
	else if (memchr(name.at, ':', name.bytes) != NULL)
		err_set(&first, "%s:1: the name of the model contains a colon",
		    path);
	else if (text_equal(name, text_of(RECORD_NO_MODEL)) ||
		 text_equal(name, text_of(RECORD_SPAN_MODEL)))
		err_set(&first,
		    "%s:1: no model may be called " RECORD_NO_MODEL
		    " or " RECORD_SPAN_MODEL
		    ": those stand for phases without one, and for spans",
		    path);
	else if (strlen(copy) != text.bytes)
		err_set(&first, "%s:1: contains a NUL byte", path);
	else if ((unclosed = config_unclosed(copy, &line)) != NULL)
		err_set(&first, "%s:%u: %s", path, line, unclosed);
	else if (cfg_parse_buf(cfg, copy) == CFG_SUCCESS)
		rc = take_model(set, cfg, path, name, &first);
	else if (first.text[0] == '\0')
		err_set(&first, "%s:1: cannot be parsed", path);
	if (rc != 0)
		err_set(err, "%s", first.text);
	reported = NULL;
	cfg_free(cfg);
	pthread_mutex_unlock(&reporting);
	free(copy);
	return rc;
}
