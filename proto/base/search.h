/*
 * search - where something is in what is in order.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_BASE_SEARCH_H
#define PROTO_BASE_SEARCH_H

/* The first number of [from, to) for which the last argument, an expression of
 * `i`, does not hold; `to` if it holds for all.  It must hold for none behind
 * that one. */
#define LOWER_BOUND(i, from, to, ...)                                          \
	({                                                                     \
		__typeof__((to) + 0) search_from_ = (from), search_to_ = (to); \
		while (search_from_ < search_to_) {                            \
			__typeof__((to) + 0) i =                               \
			    search_from_ + (search_to_ - search_from_) / 2;    \
			if (__VA_ARGS__)                                       \
				search_from_ = i + 1;                          \
			else                                                   \
				search_to_ = i;                                \
		}                                                              \
		search_from_;                                                  \
	})

#endif
