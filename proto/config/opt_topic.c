/*
 * opt_topic - a program whose first word chooses, each with its own options.
 * SPDX-License-Identifier: MIT
 */
#include "proto/config/opt_topic.h"

#include <stdio.h>
#include <string.h>

bool
opt_topic_takes(const struct opt_topic *topic, const struct opt *opt)
{
	size_t bytes = strlen(opt->name);
	const char *at = topic->options;

	if ((opt->flags & OPT_SELDOM) != 0)
		return true;
	while ((at = strstr(at, opt->name)) != NULL) {
		if ((at == topic->options || at[-1] == ' ') &&
		    (at[bytes] == '\0' || at[bytes] == ' '))
			return true;
		at += bytes;
	}
	return false;
}

bool
opt_is_taken(const struct opt_program *program, const struct opt *opt)
{
	const struct opt_topic *topic = program->topics;

	if (topic == NULL)
		return true;
	while (topic->word != NULL && !opt_topic_takes(topic, opt))
		topic++;
	return topic->word != NULL;
}

enum { LIST_BYTES = 256 };

/* The words of all topics, or of those that take the option. */
static const char *
list_words(char to[static LIST_BYTES], const struct opt_topic *topics,
    const struct opt *opt)
{
	size_t used = 0;

	to[0] = '\0';
	for (; topics->word != NULL && used < LIST_BYTES; topics++)
		if (opt == NULL || opt_topic_takes(topics, opt))
			used += (size_t)snprintf(to + used, LIST_BYTES - used,
			    "%s%s", used > 0 ? ", " : "", topics->word);
	return to;
}

enum { MANY = UINT16_MAX };

static void
count_synopsis(const char *at, uint32_t *least, uint32_t *most)
{
	uint32_t needed = 0, allowed = 0;
	size_t bytes;

	*least = UINT32_MAX;
	*most = 0;
	do {
		at += strspn(at, " ");
		bytes = strcspn(at, " ");
		if (bytes > 0 && *at != '|') {
			const char *many = strstr(at, "...");
			bool is_many = many != NULL && many < at + bytes;

			needed += *at != '[';
			allowed += is_many ? MANY : 1;
		} else {
			*least = needed < *least ? needed : *least;
			*most = allowed > *most ? allowed : *most;
			needed = allowed = 0;
		}
		at += bytes;
	} while (bytes > 0);
}

static void
check_count(const struct opt_program *program, const struct opt_topic *topic,
    uint32_t count, char **words)
{
	uint32_t least, most;

	count_synopsis(topic->synopsis, &least, &most);
	if (count < least)
		opt_usage("missing argument: %s %s%s", program->name,
		    topic->word, topic->synopsis);
	if (count > most && most < MANY)
		opt_usage("unexpected argument '%.64s': %s %s%s", words[most],
		    program->name, topic->word, topic->synopsis);
}

void
opt_topic_check(const struct opt_program *program, uint32_t count, char **words)
{
	const struct opt_topic *topic = program->topics;
	char list[LIST_BYTES];

	if (count == 0)
		opt_usage("missing argument: %s %s", program->name,
		    program->synopsis);
	while (topic->word != NULL && strcmp(topic->word, words[0]) != 0)
		topic++;
	if (topic->word == NULL)
		opt_refuse_word(
		    words[0], list_words(list, program->topics, NULL));
	check_count(program, topic, count - 1, words + 1);
	for (const struct opt_table *t = program->tables; t->options != NULL;
	     t++)
		for (const struct opt *o = t->options; o->name != NULL; o++)
			if (opt_origin(o) == OPT_COMMAND_LINE &&
			    !opt_topic_takes(topic, o))
				opt_usage("--%s is for %s, not for %s", o->name,
				    list_words(list, program->topics, o),
				    topic->word);
}
