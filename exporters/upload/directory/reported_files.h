/*
 * reported_files - remember files that were already reported.
 *
 * A file that has changed since may be reported again.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_DIRECTORY_REPORTED_FILES_H
#define EXPORTERS_UPLOAD_DIRECTORY_REPORTED_FILES_H

#include "exporters/upload/directory/inbox.h"

struct reported_files; /* opaque */

struct reported_files *reported_files_new(void);
void reported_files_free(struct reported_files **reported_files);

/* `bad`: reading this version again is useless. */
void reported_files_add(struct reported_files *reported_files,
    const struct inbox_file *file, bool bad);
bool reported_files_has(const struct reported_files *reported_files,
    const struct inbox_file *file, bool *bad);

#endif
