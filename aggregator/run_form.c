/*
 * run_sum - a model in a partition, as numbers.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "aggregator/names.h"
#include "aggregator/run_sum.h"

static uint32_t
number_of(struct names *names, struct db_txn *txn, uint32_t partition,
    struct text text)
{
	if (names == NULL)
		return names_find(txn, partition, text);
	return names_number_always(names, txn, partition, text);
}

void
run_form_make(struct run_form *form, struct names *names, struct db_txn *txn,
    uint32_t partition, const struct model_run *model)
{
	char id[NAME_BYTES_MAX + 2];

	form->model = model;
	form->partition = partition;
	/* The phases of a model begin with these bytes: no other name is so
	 * long and ends with a colon. */
	form->number = number_of(names, txn, partition,
	    (struct text){ id, (uint32_t)snprintf(id, sizeof(id), "%.*s:",
				   (int)model->model.bytes, model->model.at) });
	form->roles.count = model->events;
	for (unsigned i = 0; i < model->events; i++)
		form->roles.number[i] =
		    number_of(names, txn, partition, model->event[i]);
	for (unsigned i = 0; i < model->steps; i++)
		form->phase[i] =
		    number_of(names, txn, partition, model->step[i].phase);
}
