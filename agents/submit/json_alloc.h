/*
 * json_alloc - where jansson's memory comes from.
 *
 * When it gets none jansson takes the text for a bad one, and a good line
 * would be left out for good.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SUBMIT_JSON_ALLOC_H
#define AGENTS_SUBMIT_JSON_ALLOC_H

/* From now on a lack of memory ends the process (abort) instead, with a line
 * on stderr.  Once, before anything is read. */
void json_alloc_open(void);

#endif
