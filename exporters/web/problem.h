/*
 * web_problem - an error as JSON (RFC 9457, application/problem+json).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_WEB_PROBLEM_H
#define EXPORTERS_WEB_PROBLEM_H

#include "exporters/web/http/body.h"

#define WEB_PROBLEM_TYPE "application/problem+json"

/* `detail` is one sentence that says what is wrong and what to do. */
struct web_body *web_problem(unsigned status, const char *detail);

#endif
