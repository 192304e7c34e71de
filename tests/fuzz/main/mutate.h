/*
 * mutate - inputs that are nearly those of a corpus.
 *
 * No coverage leads it (libFuzzer does that, `make fuzz`): it is as fast as the
 * target, works with every compiler and sanitizer, and finds with the seed
 * and the number of a run that run again.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FUZZ_MAIN_MUTATE_H
#define TESTS_FUZZ_MAIN_MUTATE_H

#include <stddef.h>
#include <stdint.h>

struct input {
	uint8_t *at;
	size_t bytes;
	uint64_t up_to; /* of its share and those before it */
};

struct corpus {
	struct input *inputs;
	size_t count;
};

/* Shares for all of them, before the first mutate(): short inputs are tried
 * more often than long ones, so that each gets about the same time. */
void mutate_share(struct corpus *corpus);

/* An input of at most `room` bytes into `to`; how many.  What is made follows
 * from the corpus and `random` alone. */
size_t mutate(
    const struct corpus *corpus, uint64_t random, uint8_t *to, size_t room);

/* Shares (mutate_share), then runs the target on inputs `from` to `from + runs
 * - 1` of `seed`, each at the end of a page behind which there is none.  The
 * input that ends it is left in crash-NAME in $FUZZ_CRASHES (.), and its seed
 * and number are printed. */
void mutate_run(struct corpus *corpus, const char *name, uint64_t seed,
    uint64_t from, uint64_t runs);

#endif
