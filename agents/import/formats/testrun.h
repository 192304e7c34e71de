/*
 * import_testrun - test runs of a device farm as rows.
 *
 * A directory has testruns.jsonl, a line a run: {"testrun_id", "device_group",
 * "queue", "configuration", "host_worker_instances", "requestor",
 * "request_id", "error"}, and events.jsonl, a line an event: {"testrun_id",
 * "event_name", "event_emit", "event_receive"}, times in seconds since the
 * epoch.  proto/wire.md, "Test runs", describes the resulting rows.  A null
 * property removes the property; an absent one leaves it unchanged.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_FORMATS_TESTRUN_H
#define AGENTS_IMPORT_FORMATS_TESTRUN_H

#include "agents/import/formats/format.h"

enum import_testrun_file {
	IMPORT_TESTRUN_RUNS,
	IMPORT_TESTRUN_EVENTS,
	IMPORT_TESTRUN_FILES
};
extern const char *const import_testrun_names[IMPORT_TESTRUN_FILES];

/* The default node of the rows: the same on every host. */
#define IMPORT_TESTRUN_NODE "testrun"

/* Read a line of one of the files.  -1: `err` has the error.  The caller sets
 * record.node. */
int import_testrun_parse(struct import_row *row, enum import_testrun_file file,
    struct text line, struct err *err);

/* The same without a file.  Texts must outlive the row; `receive_ns` may be
 * NULL. A run begins without properties: import_row_put adds them. */
int import_testrun_put_event(struct import_row *row, struct text run,
    struct text name, int64_t emit_ns, const int64_t *receive_ns,
    struct err *err);
void import_testrun_put_run(struct import_row *row, struct text run);

#endif
