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
#include "exporters/source/places.h"

/* Takes ownership of `reader`. */
void local_source_open(struct pages *pages, struct reader *reader);

/* What answers in place of reader_answer: a store that must be filled first. */
struct local_source_answerer {
	/* As reader_answer; in the thread of the source, or in its worker. */
	int (*answer)(void *arg, struct reader *reader,
	    const struct pages_question *question, struct wire_writer *w,
	    bool *last, struct err *err);
	/* True: nobody waits for the page that the worker makes, whatever it
	 * will be.  False: it has ended. */
	void (*set_dropped)(void *arg, bool is_dropped);
	void (*close)(void *arg); /* after the reader */
};
/* The same; also takes ownership of `arg`. */
void local_source_open_with(struct pages *pages, struct reader *reader,
    const struct local_source_answerer *answerer, void *arg);

#endif
