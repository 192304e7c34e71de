/*
 * opt_value - the values of options: read, kept with where they came from,
 * changed while the process runs, shown.
 *
 * For opt, conf and service; programs use opt.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CONFIG_OPT_VALUE_H
#define PROTO_CONFIG_OPT_VALUE_H

#include <stddef.h>

#include "proto/base/err.h"
#include "proto/config/config.h"
#include "proto/config/opt.h"

/* The value in force: words as somebody gave them, none for the default. */
struct opt_value {
	const struct opt *opt;
	void *to; /* the variable */
	enum opt_from from;
	const char *file; /* OPT_FILE: lives as long as the process */
	int line;
	const char **words; /* live as long as the process */
	uint32_t count;
	const char *reported; /* what needs a restart, and was said so */
	union opt_plain {
		bool flag;
		const char *text;
		uint64_t number;
		int64_t ns;
		int index;
	} initial; /* what stood there before anything was parsed */
};

/* Forget all, and note the defaults of `program`. */
void opt_values_begin(const struct opt_program *program);
/* All options of the program; NULL: no more. */
const struct opt_value *opt_value_at(uint32_t index);

/* Set to `word`; a list grows by it. */
int opt_value_give(const struct opt *opt, const char *word, enum opt_from from,
    struct err *err);
/* Set what nobody stronger has set. */
void opt_value_take(const struct config *config);

/* What `conf` says differently, and what may change (OPT_RELOAD), gets its
 * new value. */
void opt_value_change(const struct config *config);
/* The values from before the change again. */
void opt_value_undo(void);
/* The change stays: log_info tells what it is, log_warn what needs a restart,
 * once for each value. */
void opt_value_keep(const struct config *config);

/* The value in force for people, quoted: "5s", "a b"; the default is put into
 * words.  Cut with "..."; returns `to`. */
const char *opt_value_text(
    const struct opt_value *value, char *to, size_t to_bytes);
/* Where it came from: "default", "FILE:LINE", "POOLSCOPE_PERIOD", "--period".
 */
const char *opt_value_origin(
    const struct opt_value *value, char *to, size_t to_bytes);

/* "POOLSCOPE_SPOOL_BYTES" of "spool-bytes". */
enum { OPT_VARIABLE_BYTES = 80 };
void opt_variable(const struct opt *opt, char to[static OPT_VARIABLE_BYTES]);

/* If a file set the option that is wrong (ERR_OPTION), put "file:line: " in
 * front, and make it ERR_CONFIG. */
void opt_value_locate(struct err *err);

#endif
