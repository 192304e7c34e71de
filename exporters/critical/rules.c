/*
 * critical_rules - what a model says of the order of phases.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/critical/rules.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/record/record.h"

static const struct {
	const char *word;
	uint8_t bit;
} words[] = { { "after", CRITICAL_AFTER }, { "after_any", CRITICAL_AFTER_ANY },
	{ "end_after", CRITICAL_END_AFTER } };

/* `names` are phases of the same model, a line each. */
static void
take_names(struct critical_rules *rules, const struct phases_names *all,
    struct text phase, uint32_t number, struct text names, uint8_t bit)
{
	struct text model = text_before(phase, ':'), name;
	char id[2 * NAME_BYTES_MAX + 2];
	uint32_t other;

	while (text_next_line(&names, &name)) {
		struct text whole = { id, model.bytes + 1 + name.bytes };

		if (whole.bytes > sizeof(id))
			continue;
		memcpy(id, model.at, model.bytes);
		id[model.bytes] = ':';
		memcpy(id + model.bytes + 1, name.at, name.bytes);
		if (!string_table_find(&all->phases, whole, &other))
			continue;
		rules->waits[number * rules->phases + other] |= bit;
		rules->any = true;
	}
}

static void
take_rules(struct critical_rules *rules, const struct phases_names *names,
    struct text model, const struct record *record)
{
	struct value places, required;
	struct text text;
	uint32_t number;

	if (!text_equal(text_before(record->name, ':'), model) ||
	    !string_table_find(&names->phases, record->name, &number))
		return;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (record_find_text(record, words[i].word, &text))
			take_names(rules, names, record->name, number, text,
			    words[i].bit);
	if (record_find_attribute(record, text_of("places"), &places) &&
	    places.type == VALUE_INT && places.is.i > 0 &&
	    places.is.i < UINT32_MAX) {
		rules->places[number] = (uint32_t)places.is.i;
		rules->any = true;
	}
	if (record_find_text(record, "bytes", &text) &&
	    rules->bytes[number] == NULL)
		rules->bytes[number] = memory_text(text);
	if (!record_find_attribute(record, text_of("required"), &required) ||
	    required.type != VALUE_BOOL || !required.is.boolean)
		return;
	rules->is_required[number] = true;
	rules->required++;
}

int
critical_rules_read(struct critical_rules *rules,
    const struct phases_names *names, struct text model, struct source *source,
    struct text partition, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	struct record record;
	uint32_t phases = names->phases.count;
	int rc;

	*rules = (struct critical_rules){ .phases = phases,
		.first = phases,
		.waits = memory_zero((size_t)phases * phases + 1, 1),
		.places =
		    memory_zero((size_t)phases + 1, sizeof(*rules->places)),
		.is_required = memory_zero(
		    (size_t)phases + 1, sizeof(*rules->is_required)),
		.bytes =
		    memory_zero((size_t)phases + 1, sizeof(*rules->bytes)) };
	for (uint32_t i = 0; i < names->begins.count; i++)
		if (text_equal(text_before(names->begins.names[i], ':'), model))
			(void)string_table_find(&names->phases,
			    names->begins.names[i], &rules->first);
	if (source_select(source, SOURCE_STATS, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0)
		if (record.kind == RECORD_ENTITY)
			take_rules(rules, names, model, &record);
	return rc;
}

void
critical_rules_clear(struct critical_rules *rules)
{
	for (uint32_t i = 0; rules->bytes != NULL && i < rules->phases; i++)
		free(rules->bytes[i]);
	free(rules->bytes);
	free(rules->waits);
	free(rules->places);
	free(rules->is_required);
}
