// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read_folder.c - the folder that "perf record --threads" and "--kcore" write in place of a file: "data" is a
 * perf.data file, and "data.0" and so on have nothing but records.
 *
 * Source: tools/perf/Documentation/perf.data-directory-format.txt and util/data.c. Both become one file: a
 * copy of the records, then those of the other files, at the end of the first, and behind them what perf
 * expects there, the places of what is known of the recording.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/inputs.h"
#include "formats/import.h"

enum { DATA_OFF = 40, DATA_LEN = 48, BITS = 72, NR_BITS = 256, PLACE_BYTES = 16, HEADER_BYTES = 104 };

static int add_file(const char *folder, const char *name, struct buf *b, struct err *e)
{
	char path[PATH_MAX];
	struct io_map map;
	int r;

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return err_set(e, ENAMETOOLONG, "%s", folder);
	r = inputs_map(path, &map, e);
	if (r)
		return r;
	buf_add(b, map.data, map.len);
	io_unmap(&map);
	return 0;
}

static bool has_file(const char *folder, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	return snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path) && !stat(path, &st) &&
	       S_ISREG(st.st_mode);
}

bool perf_folder_is(const char *path)
{
	return has_file(path, "data");
}

static size_t count_features(const char *data)
{
	size_t i, nr = 0;

	for (i = 0; i < NR_BITS; i++)
		nr += (uint8_t)data[BITS + i / 8] >> i % 8 & 1;
	return nr;
}

static int add_streams(const char *path, struct buf *b, struct err *e)
{
	uint64_t off, len, start = b->len, total;
	size_t places;
	char name[24];
	unsigned int i;
	int r = 0;

	memcpy(&off, b->data + DATA_OFF, sizeof(off));
	memcpy(&len, b->data + DATA_LEN, sizeof(len));
	places = count_features(b->data) * PLACE_BYTES;
	if (off > start || len > start - off || places > start - off - len)
		return err_set(e, EINVAL, "%s/data: damaged or truncated: its records are missing", path);
	buf_room(b, len + places);
	buf_add(b, b->data + off, len);
	for (i = 0; !r; i++) {
		snprintf(name, sizeof(name), "data.%u", i);
		if (!has_file(path, name))
			break;
		r = add_file(path, name, b, e);
	}
	if (r)
		return r;
	total = b->len - start;
	buf_room(b, places);
	buf_add(b, b->data + off + len, places);
	memcpy(b->data + DATA_OFF, &start, sizeof(start));
	memcpy(b->data + DATA_LEN, &total, sizeof(total));
	return 0;
}

int perf_folder_read(const char *path, struct buf *b, struct err *e)
{
	int r = add_file(path, "data", b, e);

	if (r || !has_file(path, "data.0"))
		return r;
	if (b->len < HEADER_BYTES || memcmp(b->data, "PERFILE2", 8) != 0)
		return err_set(e, EINVAL, "%s/data: not a perf.data file", path);
	return add_streams(path, b, e);
}
