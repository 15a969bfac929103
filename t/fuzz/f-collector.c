// SPDX-License-Identifier: GPL-2.0-or-later
/* f-collector.c - what a receiver of OpenTelemetry answers: its message, that of an error, its headers. */
#include <stdlib.h>
#include <string.h>

#include "base/quote.h"
#include "fleet/collector.h"
#include "fleet/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* A message is shown as it is. */
static void check_text(const char *s)
{
	size_t len = s ? strlen(s) : 0, n;

	for (; len; s += n, len -= n)
		if (!(n = quote_plain_len(s, len)))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct collector_answer a = { 0 };
	char *text = strndup((const char *)data, len), *message = collector_parse_status(data, len);

	check_text(message);
	collector_parse_response(data, len, &a);
	check_text(a.message);
	http_retry_after(text, 1700000000);
	free(a.message);
	free(message);
	free(text);
	return 0;
}
