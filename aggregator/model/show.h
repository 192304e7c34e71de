/*
 * model_show - what models define, for a person who writes one.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_MODEL_SHOW_H
#define AGGREGATOR_MODEL_SHOW_H

#include <stdio.h>

#include "aggregator/model/model.h"
#include "proto/config/opt.h"

/* One model of the set in a few lines, each "  WHAT  ..."; nothing for a name
 * that is not there. */
void model_show(const struct model_set *set, struct text name, FILE *to);

/* All models of the set, each below a line "model NAME". */
void model_show_all(const struct model_set *set, FILE *to);

/* Read model files as the aggregator would if they were one directory.  Each
 * is shown on `to`; what is wrong is a line "FILE:LINE: what" on standard
 * error, the others are read all the same, and -1 counts them. */
int model_check(const struct opt_list *files, FILE *to, struct err *err);

#endif
