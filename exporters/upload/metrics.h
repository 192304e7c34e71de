/*
 * upload_metrics - upload use of nodes to an MLflow run.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_METRICS_H
#define EXPORTERS_UPLOAD_METRICS_H

#include "exporters/upload/upload.h"

/* Bound to a struct upload_metrics_values. */
extern const struct opt upload_metrics_options[];
extern const struct upload_command upload_metrics;

#endif
