/*
 * local_source - pages of a store on this machine.
 *
 * A worker thread prefetches the next page while the caller reads the last
 * one.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_LOCAL_SOURCE_H
#define EXPORTERS_SOURCE_LOCAL_SOURCE_H

#include "aggregator/query/reader.h"
#include "exporters/source/pages.h"

/* Takes ownership of `reader`. */
void local_source_open(struct pages *pages, struct reader *reader);

#endif
