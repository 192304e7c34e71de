/*
 * web_workers - threads that answer questions while the loop goes on.
 *
 * Each has a source of its own.  Of a store, which a process can have open
 * once, there is one worker at a time.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_WEB_WORKERS_H
#define EXPORTERS_WEB_WORKERS_H

#include "exporters/web/task.h"
#include "proto/net/loop/loop.h"

struct web_workers; /* opaque */

enum { WEB_WORKERS = 2, WEB_TASKS_MAX = 256 };

/* `on_done` runs in the loop's thread. */
int web_workers_start(struct web_workers **workers, struct loop *loop,
    const struct source_options *options, struct web_cache *cache,
    void (*on_done)(void *arg, struct web_task *task), void *arg,
    struct err *err);
/* Tasks that were not answered come back with the status 503. */
void web_workers_stop(struct web_workers **workers);

/* Takes the task until `on_done`.  False: WEB_TASKS_MAX wait already, and it
 * was not taken. */
bool web_workers_begin(struct web_workers *workers, struct web_task *task);

#endif
