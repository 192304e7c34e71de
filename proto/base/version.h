/*
 * version - the number of this release: here and nowhere else.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_BASE_VERSION_H
#define PROTO_BASE_VERSION_H

/* The Makefile reads this line for the packages. */
#define VERSION "0.1.0"

#endif
