/*
 * labels - the labels of a metric group, as its property `labels` has them.
 *
 * A JSON object of texts in one way of writing it (proto/wire.md, "Labels"), so
 * that the same labels always are the same bytes.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_METRIC_LABELS_H
#define PROTO_METRIC_LABELS_H

#include "proto/base/err.h"
#include "proto/base/text.h"

/* -1: the text is not such an object; the sentence says what is wrong. */
int labels_check(struct text labels, struct err *err);

#endif
