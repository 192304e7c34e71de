/*
 * show - print what models define, for the author of a model.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_MODEL_SHOW_H
#define AGGREGATOR_MODEL_SHOW_H

#include <stdio.h>

#include "aggregator/model/model.h"
#include "proto/config/opt.h"

/* Print one model of the set in a few lines "  WHAT  ..."; nothing if the set
 * does not have it. */
void model_show(const struct model_set *set, struct text name, FILE *to);

/* Print all models of the set, each below a line "model NAME". */
void model_show_all(const struct model_set *set, FILE *to);

/* Read model files as the aggregator would if they were in one directory, and
 * print each to `to`.  An error is a line "FILE:LINE: what" on standard error;
 * the other files are read nevertheless, and the return value is -1. */
int model_check(const struct opt_list *files, FILE *to, struct err *err);

#endif
