/*
 * content_type - what kind of file it is, by the end of its name.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_TARGETS_CONTENT_TYPE_H
#define EXPORTERS_UPLOAD_TARGETS_CONTENT_TYPE_H

/* "application/octet-stream" when it is none that is known. */
const char *content_type(const char *name);

#endif
