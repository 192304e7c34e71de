/*
 * admin - what an operator does to a store as a whole.
 *
 * Each works on the directory of a store and returns when it is done; what it
 * finds goes to the log.  Verify, backup and list_models also work while an
 * aggregator runs; the others want the store's lock. SPDX-License-Identifier:
 * MIT
 */
#ifndef AGGREGATOR_ADMIN_ADMIN_H
#define AGGREGATOR_ADMIN_ADMIN_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/writer/writer.h"
#include "proto/base/err.h"
#include "proto/os/lockfile.h"

/* -1 and what to do: nobody has made a store there. */
int admin_find(const char *store, struct err *err);

/* Take STORE/LOCK, so that two aggregators never own one store. */
int admin_lock(struct lockfile *lockfile, const char *store, struct err *err);

/* Take STORE/MOVE: who moves a partition has the store open beside its
 * aggregator, so nobody may put another file in its place. */
int admin_lock_moves(
    struct lockfile *lockfile, const char *store, struct err *err);

/* Walk every row of journal and tables: checksums, frames, numbers without a
 * hole, each stream's state against its last entry, statistics against their
 * phases.  0 when all is well; -1 when something is wrong (logged) or could
 * not be read. */
int admin_verify(const char *store, struct err *err);

/* Print the models that the tables follow. */
int admin_list_models(const char *store, struct err *err);

/* A consistent copy into the directory `to` (must not exist): tables first,
 * then the journal, which so covers what the tables have reached.  It has a
 * generation of its own.  When it fails nothing is left of it. */
int admin_backup(const char *store, const char *to, struct err *err);

/* Put a copy of the backup `from`, looked at row by row, in the place of the
 * store, at once and with a generation of its own: senders go back to what it
 * has.  A store that is there (or anything else) is refused, or becomes
 * STORE.aside-N with set_aside.  When it fails the store is as it was. */
int admin_restore(const char *store, const char *from, bool set_aside,
    bool allow_network, struct err *err);

/* Give the space of deleted rows back: both environments are copied and the
 * copies put in their places. */
int admin_vacuum(const char *store, struct err *err);

/* Derive phases and statistics again, with the models of today. */
int admin_rebuild(
    const char *store, const struct writer_options *options, struct err *err);

/* Seal all records, those in the journal too. */
int admin_compact(
    const char *store, const struct writer_options *options, struct err *err);

#endif
