/*
 * web_query - the parameters of a request.
 *
 * They have the names and the meaning of the options of the command whose
 * answer the route gives, and come from the same tables.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_WEB_QUERY_H
#define EXPORTERS_WEB_QUERY_H

#include "exporters/question/values.h"
#include "exporters/web/http/url.h"

/* `allowed` has the names of the parameters that a route takes, with a blank
 * between them. */
bool web_query_allows(const char *allowed, const char *name);
/* The texts of the query are views of `url`.  -1: the sentence says which
 * parameter is wrong. */
int web_query_parse(struct question_values *query, const struct web_url *url,
    const char *allowed, struct err *err);

#endif
