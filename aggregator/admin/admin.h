/*
 * admin - administration of a whole store.
 *
 * Each function works on the directory of a store and returns when it is done;
 * findings go to the log.  Verify, backup, retain_now and list_models also work
 * while an aggregator is running; the others need the lock of the store.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ADMIN_ADMIN_H
#define AGGREGATOR_ADMIN_ADMIN_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/writer/writer.h"
#include "proto/base/err.h"
#include "proto/os/lockfile.h"

/* Is there a store?  -1 and advice if not. */
int admin_find(const char *store, struct err *err);

/* Lock STORE/LOCK, so that only one aggregator writes a store, which must
 * belong to this user. */
int admin_lock(struct lockfile *lockfile, const char *store, struct err *err);

/* Lock STORE/ADMIN: a command that writes the store while its aggregator may
 * run, or replaces its files; one at a time. */
int admin_lock_files(
    struct lockfile *lockfile, const char *store, struct err *err);

/* Note in the store that the clock is right, so that records are deleted by age
 * again (aggregator/retention/store_clock.h).  Also while an aggregator is
 * running. */
int admin_retain_now(const char *store, struct err *err);

/* Forget that the store has an archive: nothing waits for it any more.  The
 * archive keeps what it has, and cannot be continued with this store. */
int admin_end_archive(const char *store, struct err *err);

/* Read every row of the journal and the tables.  Check the checksums, the
 * frames, that the numbers have no hole, the state of each stream against its
 * last entry, and the statistics against their phases.  0: no error; -1:
 * errors were logged, or the store cannot be read. */
int admin_verify(const char *store, struct err *err);

/* Print the models of the tables. */
int admin_list_models(const char *store, struct err *err);

/* Write a consistent copy to the directory `to`, which must not exist: first
 * the tables, then the journal, which thus covers the position of the tables.
 * The copy has a generation of its own.  On failure nothing of it remains. */
int admin_backup(const char *store, const char *to, struct err *err);

/* Install a copy of the backup `from`, verified row by row, as the store, in
 * one step and with a generation of its own: senders resend from its last
 * batches. An existing store (or any other file) is refused, or renamed to
 * STORE.aside-N with set_aside.  On failure the store is unchanged. */
int admin_restore(const char *store, const char *from, bool set_aside,
    bool allow_network, struct err *err);

/* Say, in a copy of a backup or an archive with its new generation, what it may
 * lack. */
int admin_note_restore(const char *store, struct err *err);

/* Return the space of deleted rows: copy both environments and replace them by
 * the copies. */
int admin_vacuum(const char *store, struct err *err);

/* Derive phases and statistics again, with the current models. */
int admin_rebuild(
    const char *store, const struct writer_options *options, struct err *err);

/* Index the journal and compact all records. */
int admin_compact(
    const char *store, const struct writer_options *options, struct err *err);

#endif
