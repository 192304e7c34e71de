/*
 * report - what an aggregator says of itself: one record of kind "entity",
 * kind "status", id "aggregator", with the counters of intake, fold and desk.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_REPORT_H
#define AGGREGATOR_REPORT_H

#include "aggregator/desk.h"
#include "aggregator/fold.h"
#include "aggregator/intake.h"

/* Append it (and its context) to a page; false when it does not fit. */
bool report_put(struct wire_writer *w, struct text node,
    const struct intake_status *intake, const struct fold_status *fold,
    const struct desk_status *desk, const struct gate_counters *gate,
    bool insecure);

#endif
