/*
 * why_sentences - what is reported of a pool, a node, a job or a run.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/why/sentences.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proto/answer/cell.h"
#include "proto/base/memory.h"
#include "proto/http/message.h"

const char *const why_about_words[WHY_ABOUTS] = { "start", "path", "nodes",
	"slow", "help", "runs", "lost", "untold", "records" };

/* A byte that is not shown becomes four characters. */
enum {
	QUOTED_BYTES = 8 * NAME_BYTES_MAX + 1,
	INDENT = 2,
	NUMBER_BYTES = 20,
	UNIT_BYTES = 4, /* "min", with a full stop */
};

/* ---- names ---- */

void
why_put_name(FILE *file, struct text name)
{
	char shown[QUOTED_BYTES];

	fputs(text_quote(shown, sizeof(shown), name), file);
}

void
why_put_word(FILE *file, struct text word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-._/:,=@%+";
	bool is_plain = word.bytes > 0;

	for (uint32_t i = 0; i < word.bytes; i++)
		is_plain = is_plain && word.at[i] != '\0' &&
			   strchr(plain, word.at[i]) != NULL;
	if (!is_plain)
		putc('\'', file);
	for (uint32_t i = 0; i < word.bytes; i++)
		if (word.at[i] == '\'')
			fputs("'\\''", file);
		else
			putc(word.at[i], file);
	if (!is_plain)
		putc('\'', file);
}

static char *
encoded(struct text text)
{
	size_t room = 3 * (size_t)text.bytes + 1;
	char *to = memory_alloc(room);

	(void)http_encode(to, room, text, "");
	return to;
}

/* ---- making ---- */

FILE *
why_begin(struct why_sentences *all)
{
	return all->file = memory_stream(&all->text, &all->bytes);
}

static char *
command_of(const struct why_sentences *all, const struct why_proof *proof)
{
	char *command;
	size_t bytes;
	FILE *file;

	if (proof->question == NULL)
		return NULL;
	file = memory_stream(&command, &bytes);
	fprintf(file, "poolscope %s -p ", proof->question);
	why_put_word(file, all->partition);
	fprintf(
	    file, "%s%s", all->options, proof->more != NULL ? proof->more : "");
	memory_stream_end(&file);
	return command;
}

static char *
address_of(const struct why_sentences *all, const struct why_proof *proof)
{
	char *pool, *node, *address;

	if (proof->view == NULL)
		return NULL;
	pool = encoded(all->partition);
	node = encoded(proof->item);
	address = memory_format("#/pool/%s%s%s%s%s%s", pool,
	    *proof->view != '\0' ? "/" : "", proof->view,
	    proof->item.bytes > 0 ? "/" : "", node, all->time);
	free(pool);
	free(node);
	return address;
}

static char *
kept(struct text text)
{
	return text.bytes > 0 ? memory_text(text) : NULL;
}

void
why_end(struct why_sentences *all, enum why_about about,
    const struct why_proof *proof)
{
	memory_stream_end(&all->file);
	if (all->bytes == 0) {
		free(all->text);
		return;
	}
	all->at =
	    memory_grow(all->at, &all->room, all->count, sizeof(*all->at));
	all->at[all->count++] = (struct why_sentence){ .about = about,
		.text = all->text,
		.node = proof->view != NULL && strcmp(proof->view, "node") == 0
			    ? kept(proof->item)
			    : NULL,
		.phase = kept(proof->phase),
		.key = kept(proof->key),
		.cause = kept(text_of(proof->cause)),
		.time_ns = proof->time_ns,
		.usual_ns = proof->usual_ns,
		.command = command_of(all, proof),
		.address = address_of(all, proof) };
}

void
why_clear(struct why_sentences *all)
{
	for (uint32_t i = 0; i < all->count; i++) {
		free(all->at[i].text);
		free(all->at[i].node);
		free(all->at[i].phase);
		free(all->at[i].key);
		free(all->at[i].cause);
		free(all->at[i].command);
		free(all->at[i].address);
	}
	free(all->at);
	*all = (struct why_sentences){ .at = NULL };
}

/* ---- a terminal ---- */

/* Take the first character, or a byte that begins none; returns its columns.
 * Wide ones are all beyond the marks of Hangul. */
static unsigned
next_character(struct text *rest, struct text *taken)
{
	uint32_t character = 0, bytes = text_character(*rest, &character);

	*taken = (struct text){ rest->at, bytes > 0 ? bytes : 1 };
	rest->at += taken->bytes;
	rest->bytes -= taken->bytes;
	return character >= 0x1100 ? 2 : 1;
}

static unsigned
columns_of(struct text word)
{
	unsigned columns = 0;
	struct text character;

	while (word.bytes > 0)
		columns += next_character(&word, &character);
	return columns;
}

struct lines {
	FILE *file; /* NULL: they are only counted */
	unsigned count, used, indent;
};

static void
put_bytes(const struct lines *lines, struct text bytes)
{
	if (lines->file != NULL)
		fwrite(bytes.at, 1, bytes.bytes, lines->file);
}

static void
begin_line(struct lines *lines)
{
	if (lines->file != NULL)
		fprintf(lines->file, "\n%*s", (int)lines->indent, "");
	lines->used = lines->indent;
	lines->count++;
}

/* A word that is longer than a line goes on in the next one. */
static void
put_word(struct lines *lines, struct text word)
{
	struct text character;

	while (word.bytes > 0) {
		unsigned columns = next_character(&word, &character);

		if (lines->used + columns > WHY_COLUMNS)
			begin_line(lines);
		lines->used += columns;
		put_bytes(lines, character);
	}
}

/* A word, and what it counts: "11.0 s" is not torn apart. */
static struct text
next_part(struct text *rest)
{
	struct text word = text_next_word(rest), behind = *rest, unit;

	if (word.bytes == 0 || *word.at < '0' || *word.at > '9')
		return word;
	unit = text_next_word(&behind);
	if (unit.bytes == 0 || unit.bytes > UNIT_BYTES ||
	    word.bytes > NUMBER_BYTES)
		return word;
	*rest = behind;
	word.bytes = (uint32_t)(unit.at - word.at) + unit.bytes;
	return word;
}

/* Returns how many lines it takes. */
static unsigned
put_text(FILE *file, const char *text)
{
	struct lines lines = { file, 1, INDENT, INDENT };
	struct text rest = text_of(text), word;

	put_bytes(&lines, text_of("* "));
	while ((word = next_part(&rest)).bytes > 0) {
		if (lines.used == INDENT) {
			/* The first one of a line. */
		} else if (lines.used + 1 + columns_of(word) > WHY_COLUMNS) {
			begin_line(&lines);
		} else {
			put_bytes(&lines, text_of(" "));
			lines.used++;
		}
		put_word(&lines, word);
	}
	put_bytes(&lines, text_of("\n"));
	return lines.count;
}

/* A word as the shell reads it. */
static struct text
next_shell_word(struct text *rest)
{
	struct text word = { rest->at, 0 };
	bool is_quoted = false;

	while (rest->bytes > 0 && (is_quoted || *rest->at != ' ')) {
		is_quoted ^= *rest->at == '\'';
		rest->at++;
		rest->bytes--;
		word.bytes++;
	}
	if (rest->bytes > 0) {
		rest->at++;
		rest->bytes--;
	}
	return word;
}

/* Can somebody copy it?  Not one with characters that a terminal does not show,
 * or with a word that is longer than a line. */
static bool
is_for_copying(const char *command)
{
	struct text rest = text_of(command), word;
	uint32_t character, bytes;

	while ((word = next_shell_word(&rest)).bytes > 0) {
		if (2 * INDENT + columns_of(word) + 2 > WHY_COLUMNS)
			return false;
		for (; word.bytes > 0; word.at += bytes, word.bytes -= bytes) {
			bytes = text_character(word, &character);
			if (bytes == 0 || !text_is_shown(character))
				return false;
		}
	}
	return true;
}

/* Returns how many lines it takes; one that goes on ends with a backslash. */
static unsigned
put_command(FILE *file, const char *command)
{
	struct lines lines = { file, 1, 2 * INDENT, 2 * INDENT };
	struct text rest = text_of(command), word;

	put_bytes(&lines, text_of("    "));
	while ((word = next_shell_word(&rest)).bytes > 0) {
		if (lines.used == lines.indent) {
			/* The first one of a line. */
		} else if (lines.used + 1 + columns_of(word) + 2 >
			   WHY_COLUMNS) {
			put_bytes(&lines, text_of(" \\"));
			begin_line(&lines);
		} else {
			put_bytes(&lines, text_of(" "));
			lines.used++;
		}
		put_word(&lines, word);
	}
	put_bytes(&lines, text_of("\n"));
	return lines.count;
}

/* Take the lines of the sentence, or of the command, if there are that many. */
static bool
take_lines(unsigned *left, unsigned lines)
{
	bool fits = lines <= *left;

	*left -= fits ? lines : 0;
	return fits;
}

static bool
has_command(const struct why_sentences *all, uint32_t number)
{
	const char *command = all->at[number].command;

	if (command == NULL || !is_for_copying(command))
		return false;
	/* One after another of the same proof need it once. */
	return number + 1 == all->count ||
	       all->at[number + 1].command == NULL ||
	       strcmp(command, all->at[number + 1].command) != 0;
}

void
why_print(FILE *file, const struct why_sentences *all)
{
	enum { TEXT = 1, COMMAND = 2 };
	unsigned char *shows = memory_zero((size_t)all->count + 1, 1);
	unsigned left = WHY_LINES, wanted = 0;
	uint32_t left_out = 0;

	for (uint32_t i = 0; i < all->count; i++)
		wanted += put_text(NULL, all->at[i].text);
	left -= wanted > WHY_LINES; /* what is left out is reported in one */
	for (uint32_t i = 0; i < all->count; i++)
		if (take_lines(&left, put_text(NULL, all->at[i].text)))
			shows[i] = TEXT;
		else
			left_out++;
	for (uint32_t i = 0; i < all->count; i++)
		if (shows[i] != 0 && has_command(all, i) &&
		    take_lines(&left, put_command(NULL, all->at[i].command)))
			shows[i] |= COMMAND;
	for (uint32_t i = 0; i < all->count; i++) {
		if (shows[i] & TEXT)
			(void)put_text(file, all->at[i].text);
		if (shows[i] & COMMAND)
			(void)put_command(file, all->at[i].command);
	}
	if (left_out > 0)
		fprintf(file,
		    "%" PRIu32 " more: poolscope why --format json has all\n",
		    left_out);
	free(shows);
}
