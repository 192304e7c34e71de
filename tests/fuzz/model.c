/*
 * model - parse any text as a model file.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/model/show.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A model is printed as lines of text, whatever it contains. */
static void
show(const struct model_set *set)
{
	char *shown = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&shown, &bytes);

	if (to == NULL)
		abort();
	model_show_all(set, to);
	if (fclose(to) != 0)
		abort();
	for (size_t i = 0; i < bytes; i++)
		if ((unsigned char)shown[i] < ' ' && shown[i] != '\n')
			abort();
	free(shown);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text text = { (const char *)data, (uint32_t)size };
	struct model_set set = { .phases = 0 };
	struct buffer bytes = { NULL, 0, 0 };
	struct model_phase phase;
	struct err err = { 0 };
	unsigned i;

	if (model_parse(&set, "f.conf", text_of("f"), text, &err) != 0 &&
	    (err.text[0] == '\0' || set.phases != 0 || set.views != 0))
		abort();
	for (i = 0; i < set.phases; i++) {
		bytes.bytes = 0;
		model_put_phase(&bytes, &set.phase[i]);
		if (!model_get_phase(buffer_text(&bytes), &phase) ||
		    !text_equal(phase.id, set.phase[i].id))
			abort();
	}
	show(&set);
	buffer_clear(&bytes);
	model_set_clear(&set);
	return 0;
}
