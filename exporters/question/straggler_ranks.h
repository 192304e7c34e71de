/*
 * question_straggler_ranks - the ranks of a job, as a part of the answer to
 * `stragglers --work`.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_QUESTION_STRAGGLER_RANKS_H
#define EXPORTERS_QUESTION_STRAGGLER_RANKS_H

#include "exporters/stragglers/rank_spans.h"
#include "proto/answer/answer.h"

extern const struct answer_column straggler_rank_columns[];

/* The table "ranks", and notes about it. */
void straggler_ranks_put(const struct rank_spans *spans, struct answer *answer);

#endif
