/*
 * apply - move what is committed of table `changes` to table `state`.
 *
 * `changes` has every version of a row that a pass has sent, so that what a
 * pass wrote that was never committed does not replace what was.  `state` keeps
 * the newest committed one of each row; then the versions can go.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_APPLY_H
#define AGGREGATOR_ARCHIVE_APPLY_H

#include "aggregator/archive/checkpoint.h"
#include "aggregator/archive/owners.h"

/* Copy the changes after `checkpoint->applied` up to the checkpoint, see that
 * the replicas have them, and commit that.  Then drop the versions before. */
int apply_changes(
    struct owners *owners, struct checkpoint *checkpoint, struct err *err);

#endif
