/*
 * opt_value - the values of options: parse them, store them with their origin,
 * change them while the process runs, print them.
 *
 * For opt, config and service; programs use opt.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CONFIG_OPT_VALUE_H
#define PROTO_CONFIG_OPT_VALUE_H

#include <stddef.h>

#include "proto/base/err.h"
#include "proto/config/config.h"
#include "proto/config/opt.h"

/* The value in force: the words as given; none for the default. */
struct opt_value {
	const struct opt *opt;
	void *to; /* the variable */
	enum opt_from from;
	const char *file; /* OPT_FILE: lives as long as the process */
	int line;
	const char **words; /* live as long as the process */
	uint32_t count;
	/* The configured value that requires a restart, once logged. */
	const char *reported;
	union opt_plain {
		bool flag;
		const char *text;
		uint64_t number;
		int64_t ns;
		int index;
	} initial; /* the value before anything was parsed */
};

/* Reset, and store the defaults of `program`. */
void opt_values_begin(const struct opt_program *program);
/* All options of the program; NULL: no more. */
const struct opt_value *opt_value_at(uint32_t index);

/* Set the option to `word`; append it to a list. */
int opt_value_assign(const struct opt *opt, const char *word,
    enum opt_from from, struct err *err);
/* Set the options that neither command line nor environment has set. */
void opt_value_apply(const struct config *config);

/* Set the zone that an option names, and read the times again in that zone. */
int opt_value_set_zone(struct err *err);

/* Change the options with OPT_RELOAD whose configured value differs. */
void opt_value_change(const struct config *config);
/* Restore the values from before the change. */
void opt_value_undo(void);
/* Keep the change: log each changed value (info), and each value that requires
 * a restart (warn), once. */
void opt_value_keep(const struct config *config);

/* The default as a user would type it, or "". */
void opt_value_default(
    const struct opt_value *value, char *to, size_t to_bytes);
/* The value in force as text, quoted: "5s", "a b"; also for a default.  Cut
 * with "..."; returns `to`. */
const char *opt_value_text(
    const struct opt_value *value, char *to, size_t to_bytes);
/* The origin: "default", "FILE:LINE", "POOLSCOPE_PERIOD", "--period". */
const char *opt_value_origin(
    const struct opt_value *value, char *to, size_t to_bytes);

/* "POOLSCOPE_SPOOL_BYTES" for "spool-bytes". */
enum { OPT_VARIABLE_BYTES = 80 };
void opt_variable(const struct opt *opt, char to[static OPT_VARIABLE_BYTES]);

/* If a file set the wrong option (ERR_OPTION), put "file:line: " in front of
 * the sentence, and set ERR_CONFIG. */
void opt_value_locate(struct err *err);

#endif
