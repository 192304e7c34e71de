/*
 * work - a random life of a spool, with its ledger.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FAULT_SPOOL_WORK_H
#define TESTS_FAULT_SPOOL_WORK_H

#include <stdint.h>

#include "tests/fault/spool/ledger.h"

extern const struct spool_options work_options;

/* Open the spool in `dir`, do `steps` random things to it, close it.  In one
 * of three lives an operation of the disk fails.  Ends the process when the
 * spool breaks a promise while it is running. */
void work_run(
    struct ledger *ledger, const char *dir, uint32_t steps, uint64_t *random);

/* After opening: can one batch be put into each stream and read back? */
bool work_append_one(struct ledger *ledger, struct spool *spool, uint64_t at);

#endif
