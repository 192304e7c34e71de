/*
 * web_assets - the files of the page.
 *
 * They are part of the program, so that it needs none at run time; or, for who
 * changes them, a folder that is read at each request.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_WEB_ASSETS_H
#define EXPORTERS_WEB_ASSETS_H

#include "exporters/web/http.h"
#include "proto/base/err.h"

/* The description of the interface, which is of the program, not of the page.
 */
#define WEB_ASSETS_API "openapi.json"

/* A file of exporters/web/page, or the description; rules.mk makes the table.
 */
struct web_page_file {
	const char *name; /* NULL ends the table */
	const unsigned char *at, *end;
};
extern const struct web_page_file web_page_files[];

struct web_assets; /* opaque */

/* Where index.html says that the viewer of traces is. */
#define WEB_ASSETS_VIEWER "https://ui.perfetto.dev"

/* `dir`: read the files there; NULL: those of the program.  `viewer` is put in
 * the place of WEB_ASSETS_VIEWER, as it is: the caller has checked that it is
 * an address and has no quotes. */
int web_assets_open(struct web_assets **assets, const char *dir,
    const char *viewer, struct err *err);
void web_assets_close(struct web_assets **assets);

/* A file and its type; the caller drops the body.  NULL: there is none. */
struct web_body *web_assets_get(
    struct web_assets *assets, const char *name, const char **type);
/* Identifies the content of the program's files; "": they may change. */
const char *web_assets_tag(const struct web_assets *assets);

#endif
