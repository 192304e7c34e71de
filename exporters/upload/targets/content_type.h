/*
 * content_type - the media type of a file, by its name's extension.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_TARGETS_CONTENT_TYPE_H
#define EXPORTERS_UPLOAD_TARGETS_CONTENT_TYPE_H

/* "application/octet-stream" for an unknown extension. */
const char *content_type(const char *name);

#endif
