/*
 * target - somewhere that poolscope-upload sends to: "scheme:rest".
 * SPDX-License-Identifier: MIT
 */
#include "exporters/target.h"

#include <stdio.h>

/* In the order of help. */
static const struct target_type *const types[] = {
	&target_datastore,   /**/
	&target_azure_table, /**/
	&target_azure_blob,  /**/
	&target_s3,          /**/
	&target_influx,      /**/
	&target_http,        /**/
	NULL,
};

/* "datastore:PROJECT, s3:BUCKET/KEY" */
static void
list_types(char *to, size_t room)
{
	size_t used = 0;

	to[0] = '\0';
	for (uint32_t i = 0; types[i] != NULL && used < room; i++) {
		int n = snprintf(to + used, room - used, "%s%s%s%s",
		    i > 0 ? ", " : "", types[i]->scheme,
		    types[i]->rest ? ":" : "",
		    types[i]->rest ? types[i]->rest : "");

		used += n > 0 ? (size_t)n : 0;
	}
}

/* What stands behind the scheme may hold a secret: it is not repeated. */
const struct target_type *
target_find(const char *name, const char **rest, struct err *err)
{
	char all[300], quoted[80];
	struct text scheme = { name, (uint32_t)strcspn(name, ":") };

	for (uint32_t i = 0; types[i] != NULL; i++) {
		const struct target_type *type = types[i];

		if (!text_equal(scheme, text_of(type->scheme)))
			continue;
		*rest = name + scheme.bytes + (name[scheme.bytes] == ':');
		if (type->rest != NULL && **rest == '\0') {
			err_set(err,
			    "--to %s:%s: what stands behind the colon "
			    "is missing",
			    type->scheme, type->rest);
			return NULL;
		}
		return type;
	}
	list_types(all, sizeof(all));
	err_set(err, "'%s' is no target; there are %s",
	    text_quote(quoted, sizeof(quoted), scheme), all);
	return NULL;
}
