/*
 * poolscope - the front command: poolscope VERB becomes the program of the
 * verb.  poolscope(1).
 *
 * It needs libc only and starts nothing in between, so that an event from a
 * shell costs what poolscope-emit costs.  The verbs that manage an instance
 * are a script (instance.sh).
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "deploy/verb_options.h"
#include "deploy/verbs.h"
#include "proto/base/err.h"
#include "proto/base/nearest.h"
#include "proto/base/version.h"

enum { WORDS_MAX = 4 }; /* that a verb puts before those of the user */

static char here[PATH_MAX]; /* the directory of this program */

static void __attribute__((noreturn, format(printf, 2, 3)))
end(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "poolscope: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
	exit(status);
}

static void __attribute__((noreturn)) refuse_verb(const char *word)
{
	struct nearest nearest;
	char question[256];

	nearest_begin(&nearest, word);
	for (const struct verb *v = verbs; v->word != NULL; v++)
		nearest_offer(&nearest, v->word);
	nearest_offer(&nearest, "help");
	end(STATUS_USAGE,
	    "unknown verb '%.64s'%s (poolscope --help lists the verbs)", word,
	    nearest_question(&nearest, "", question, sizeof(question)));
}

/* Programs look for each other on PATH: those next to this one come first. */
static void
find_here(void)
{
	const char *path = getenv("PATH");
	char *longer, *slash;
	ssize_t bytes = readlink("/proc/self/exe", here, sizeof(here) - 1);

	if (bytes <= 0)
		end(EXIT_FAILURE, "/proc/self/exe: %s; is /proc mounted?",
		    strerror(errno));
	here[bytes] = '\0';
	slash = strrchr(here, '/');
	*slash = '\0';
	if (asprintf(&longer, "%s%s%s", here, path ? ":" : "",
		path ? path : "") < 0 ||
	    setenv("PATH", longer, 1) != 0)
		end(EXIT_FAILURE, "PATH: %s", strerror(errno));
	free(longer);
}

/* Become `first` (ends with NULL) followed by the words of the user. */
static void __attribute__((noreturn))
become(const char *const *first, int argc, char **argv)
{
	char **words = calloc((size_t)argc + WORDS_MAX + 1, sizeof(*words));
	int used = 0;

	if (words == NULL)
		end(EXIT_FAILURE, "%s", strerror(errno));
	while (first[used] != NULL) {
		words[used] = strdup(first[used]);
		used++;
	}
	for (int i = 0; i < argc; i++)
		words[used++] = argv[i];
	execvp(words[0], words);
	if (errno == ENOENT)
		end(EXIT_FAILURE, "%s is not installed on this machine",
		    words[0]);
	end(EXIT_FAILURE, "%s: %s", words[0], strerror(errno));
}

static void __attribute__((noreturn))
become_script(const struct verb *verb, int argc, char **argv)
{
	char path[PATH_MAX + 128];

	argv = verb_options_read(verb, argc, argv, &argc);
	snprintf(path, sizeof(path), "%s/../share/poolscope/instance.sh", here);
	if (access(path, R_OK) != 0)
		snprintf(path, sizeof(path), DATADIR "/instance.sh");
	if (access(path, R_OK) != 0)
		end(EXIT_FAILURE, "%s: %s", path, strerror(errno));
	become((const char *const[]){ "/bin/sh", path, here, verb->word, NULL },
	    argc, argv);
}

static bool
is_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
	       strcmp(word, "--help-all") == 0;
}

/* job start|stop ID: two events of this node make an interval. */
static void __attribute__((noreturn)) become_job(int argc, char **argv)
{
	char *attribute;

	if (argc < 1 ||
	    (strcmp(argv[0], "start") != 0 && strcmp(argv[0], "stop") != 0))
		end(STATUS_USAGE,
		    "job needs start or stop (poolscope job --help says more)");
	if (argc < 2 || argv[1][0] == '\0' || argv[1][0] == '-')
		end(STATUS_USAGE, "job %s needs the ID of the job", argv[0]);
	if (asprintf(&attribute, "--attr=job=%s", argv[1]) < 0)
		end(EXIT_FAILURE, "%s", strerror(errno));
	become((const char *const[]){ "poolscope-emit", "job", argv[0],
		   attribute, NULL },
	    argc - 2, argv + 2);
}

static void __attribute__((noreturn))
run(const struct verb *verb, int argc, char **argv)
{
	for (int i = 0; i < argc && verb->help != NULL; i++) {
		if (is_help(argv[i])) {
			verbs_help_of(verb);
			exit(0);
		}
		/* Programs look at the rest themselves. */
		if (verb->run != VERB_SCRIPT)
			break;
	}
	switch (verb->run) {
	case VERB_SCRIPT: become_script(verb, argc, argv);
	case VERB_JOB: become_job(argc, argv);
	case VERB_WORD:
		/* The other half of the verb: what is done, not asked. */
		if (strcmp(verb->word, "nodes") == 0 && argc > 0 &&
		    strcmp(argv[0], "retire") == 0)
			become((const char *const[]){ "poolscope-admin",
				   argv[0], NULL },
			    argc - 1, argv + 1);
		become((const char *const[]){ verb->program, verb->word, NULL },
		    argc, argv);
	case VERB_PROGRAM:;
	}
	become((const char *const[]){ verb->program, NULL }, argc, argv);
}

/* A program that is next to this one and that the table does not know. */
static void
run_stranger(const char *word, int argc, char **argv)
{
	char path[PATH_MAX + 128];

	if (*word == '\0' || *word == '-' || strchr(word, '/') != NULL ||
	    strlen(word) >= 64)
		return;
	snprintf(path, sizeof(path), "%s/poolscope-%s", here, word);
	if (access(path, X_OK) == 0)
		become((const char *const[]){ path, NULL }, argc, argv);
}

int
main(int argc, char **argv)
{
	const char *word;

	err_check_output("poolscope");
	if (argc < 2) {
		verbs_help(stderr);
		return STATUS_USAGE;
	}
	if (argc > 2 && strcmp(argv[1], "help") == 0 && argv[2][0] != '-') {
		/* "help VERB ..." is "VERB ... --help". */
		memmove(argv + 1, argv + 2, (size_t)(argc - 2) * sizeof(*argv));
		argv[argc - 1] = "--help";
	}
	word = argv[1];
	if (strcmp(word, "help") == 0 || is_help(word)) {
		verbs_help(stdout);
		return 0;
	}
	if (strcmp(word, "--version") == 0) {
		printf("poolscope %s\n", VERSION);
		return 0;
	}
	find_here();
	for (const struct verb *v = verbs; v->word != NULL; v++)
		if (strcmp(v->word, word) == 0)
			run(v, argc - 2, argv + 2);
	run_stranger(word, argc - 2, argv + 2);
	refuse_verb(word);
}
