/*
 * web_cache - answers that may be asked for again, by their tag.
 *
 * What was not asked for longest is dropped when the bound is reached.  Any
 * thread may use it.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_WEB_CACHE_H
#define EXPORTERS_WEB_CACHE_H

#include <stdint.h>

#include "exporters/web/http/body.h"

struct web_cache; /* opaque */

enum { WEB_CACHE_ENTRIES_MAX = 512 };

struct web_cache *web_cache_new(uint64_t bytes_max);
void web_cache_free(struct web_cache **cache);

/* A body, which the caller drops; NULL: it is not there. */
struct web_body *web_cache_get(struct web_cache *cache, const char *tag);
/* Keep the body, too, if it takes at most a quarter of the bound. */
void web_cache_put(
    struct web_cache *cache, const char *tag, struct web_body *body);

#endif
