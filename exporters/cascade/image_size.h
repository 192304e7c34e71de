/*
 * image_size - parse the size of an image as container tools print it.
 *
 *     188MB   ago 188MB     decimal, as docker prints since 2017
 *     187.8 MB              binary: a blank before the unit is the old docker,
 *                           and the old tool counted 1024 there
 *     187.8MiB  1 KiB       binary
 *     99812733              bytes
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CASCADE_IMAGE_SIZE_H
#define EXPORTERS_CASCADE_IMAGE_SIZE_H

#include <stdint.h>

#include "proto/base/text.h"

/* 0 and the bytes (binary units truncated toward zero, decimal ones rounded),
 * or -1: not a size, an unknown unit, or more than 2^63. */
int image_size_parse(struct text t, uint64_t *bytes);

#endif
