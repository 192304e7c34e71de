/*
 * reported_files - files of which something was said, so that it is said once.
 *
 * Of a file that was changed since it may be said again.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_REPORTED_FILES_H
#define EXPORTERS_UPLOAD_REPORTED_FILES_H

#include "exporters/upload/inbox.h"

struct told; /* opaque */

struct told *told_new(void);
void told_free(struct told **told);

/* `bad`: it is no use to look at it again. */
void told_add(struct told *told, const struct folder_file *file, bool bad);
bool told_has(
    const struct told *told, const struct folder_file *file, bool *bad);

#endif
