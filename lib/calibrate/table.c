// SPDX-License-Identifier: GPL-2.0-or-later
/* table.c - reads and writes the table of what calibration measured (table.h). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/foreign.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "calibrate/table.h"

enum { MAX_FILE = 1 << 20, MAX_COST = 1000000000 };

extern const char calibrate_trainer[], calibrate_trainer_end[], calibrate_java[], calibrate_java_end[];

void calibration_release(struct calibration *c)
{
	free(c->rows);
	memset(c, 0, sizeof(*c));
}

const char *calibration_tier_name(enum calibration_tier tier)
{
	static const char *const names[CALIBRATION_NR_TIERS] = {
		[CALIBRATION_ANY_TIER] = "", [CALIBRATION_INTERPRETED] = "interpreted",
		[CALIBRATION_C1] = "c1", [CALIBRATION_C2] = "c2", [CALIBRATION_INLINED] = "inlined",
	};

	return names[tier];
}

static bool take_number(const char **p, uint64_t *out)
{
	const char *s = *p;

	for (*out = 0; *s >= '0' && *s <= '9'; s++) {
		*out = *out * 10 + (*s - '0');
		if (*out > MAX_COST)
			return false;
	}
	if (s == *p)
		return false;
	*p = s;
	return true;
}

/* Return how many numbers the text is, with a space between two; -1: there is something else, or more. */
static int take_numbers(const char *text, uint64_t *out, int max)
{
	int nr;

	for (nr = 0; nr < max; text++) {
		if (!take_number(&text, &out[nr++]))
			return -1;
		if (!*text)
			return nr;
		if (*text != ' ')
			return -1;
	}
	return -1;
}

enum {
	NR_SEQUENCES = CALIBRATION_STEPS * CALIBRATION_STEPS,
	OF_TREES = 2,			/* in place of these: thrown and site */
	WITH_DOUBT = 4,
};

/* Take nr numbers, which are sequences or of trees; return false if they are neither. */
static bool cost_take_more(struct calibration_cost *c, const uint64_t *v, int nr)
{
	c->has_sequences = nr == NR_SEQUENCES;
	if (c->has_sequences)
		memcpy(c->sequences, v, sizeof(c->sequences));
	if (nr <= OF_TREES) {
		c->thrown = nr ? v[0] : 0;
		c->site = nr > 1 ? v[1] : 0;
	}
	return c->has_sequences || nr <= OF_TREES;
}

bool calibration_cost(const char *text, struct calibration_cost *out)
{
	uint64_t v[WITH_DOUBT + NR_SEQUENCES] = { 0 };
	int nr = take_numbers(text, v, ARRAY_SIZE(v));

	*out = (struct calibration_cost){ v[0], v[1], v[2], v[3] };
	return nr >= WITH_DOUBT - 1 && cost_take_more(out, v + WITH_DOUBT, MAX(nr - WITH_DOUBT, 0));
}

/* Return whether a row has more than its doubt. */
static bool cost_has_more(const struct calibration_cost *c)
{
	return c->has_sequences || c->thrown || c->site;
}

static void put_sequences(struct buf *b, const struct calibration_cost *c)
{
	int i;

	if (!c->has_sequences)
		buf_fmt(b, c->site ? "%" PRIu64 " %" PRIu64 : "%" PRIu64, c->thrown, c->site);
	for (i = 0; i < NR_SEQUENCES && c->has_sequences; i++)
		buf_fmt(b, "%s%" PRIu64, i ? " " : "",
			c->sequences[i / CALIBRATION_STEPS][i % CALIBRATION_STEPS]);
}

void calibration_put_cost(struct buf *b, const struct calibration_cost *c)
{
	buf_fmt(b, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, c->within, c->between, c->spread,
		c->doubt);
	if (cost_has_more(c)) {
		buf_putc(b, ' ');
		put_sequences(b, c);
	}
}

/* Return the next field of a line, which is cut there; NULL: there is none. */
static char *take_field(char **line)
{
	char *field = *line, *end;

	if (!field)
		return NULL;
	end = strchr(field, '\t');
	*line = end ? end + 1 : NULL;
	if (end)
		*end = '\0';
	return field;
}

static bool take_name(char **line, char *out)
{
	const char *field = take_field(line);

	if (!field || !*field || strlen(field) >= CALIBRATION_NAME)
		return false;
	strcpy(out, field);
	return true;
}

static bool take_cost(char **line, uint64_t *out)
{
	const char *field = take_field(line);

	return field && take_number(&field, out) && !*field;
}

static bool take_sequences(char **line, struct calibration_cost *c)
{
	const char *field = take_field(line);
	uint64_t v[NR_SEQUENCES];
	int nr;

	if (field && !strcmp(field, "-"))
		return true;
	nr = field ? take_numbers(field, v, NR_SEQUENCES) : 0;
	return nr > 0 && cost_take_more(c, v, nr);
}

/* Take the fields that earlier tables lack. */
static bool take_later_fields(char *line, struct calibration_row *r)
{
	if (line && !take_cost(&line, &r->cost.doubt))
		return false;
	if (line && !take_sequences(&line, &r->cost))
		return false;
	return !line || (take_name(&line, r->environment) && !line);
}

static bool take_row(char *line, struct calibration_row *r)
{
	uint64_t used;

	if (!(take_name(&line, r->client) && take_name(&line, r->cpu) && take_name(&line, r->metrics) &&
	      take_name(&line, r->metric) && take_cost(&line, &r->cost.within) &&
	      take_cost(&line, &r->cost.between) && take_cost(&line, &r->cost.spread) &&
	      take_cost(&line, &used)) ||
	    used > 1)
		return false;
	r->cost.doubt = r->cost.thrown = r->cost.site = 0;
	r->cost.has_sequences = false;
	r->environment[0] = '\0';
	r->used = used;
	return take_later_fields(line, r);
}

/* Replace the row with the same names, or add one after the last of the same client and CPU. */
static void put(struct calibration *c, const struct calibration_row *r)
{
	const struct calibration_row *old = calibration_find(c, r->client, r->cpu, r->metrics, r->metric);
	size_t at = c->nr_rows, i;

	if (old) {
		c->rows[old - c->rows] = *r;
		return;
	}
	for (i = 0; i < c->nr_rows; i++)
		if (!strcmp(c->rows[i].client, r->client) && !strcmp(c->rows[i].cpu, r->cpu))
			at = i + 1;
	VEC_GROW(c->rows, c->nr_rows, c->alloc_rows);
	memmove(&c->rows[at + 1], &c->rows[at], (c->nr_rows++ - at) * sizeof(*r));
	c->rows[at] = *r;
}

int calibration_parse(struct calibration *c, const char *text, size_t len, struct err *e)
{
	const char *end = text + len, *eol;
	struct calibration_row r;
	char line[1024];
	unsigned int nr;

	for (nr = 1; text < end; text = eol + 1, nr++) {
		eol = memchr(text, '\n', end - text);
		eol = eol ? eol : end;
		if (eol == text || *text == '#')
			continue;
		if ((size_t)(eol - text) >= sizeof(line))
			return err_set(e, EINVAL, "line %u is too long", nr);
		memcpy(line, text, eol - text);
		line[eol - text] = '\0';
		if (strlen(line) != (size_t)(eol - text) || !take_row(line, &r))
			return err_set(e, EINVAL, "line %u is not a row of a calibration", nr);
		put(c, &r);
	}
	return 0;
}

bool calibration_offer(struct calibration *c, const struct calibration_row *r)
{
	const struct calibration_row *before = calibration_find(c, r->client, r->cpu, r->metrics, r->metric);

	if (r->used || !before || !before->used)
		put(c, r);
	return r->used;
}

const struct calibration_row *calibration_find(const struct calibration *c, const char *client,
					       const char *cpu, const char *metrics, const char *metric)
{
	size_t i;

	for (i = 0; i < c->nr_rows; i++) {
		const struct calibration_row *r = &c->rows[i];

		if (!strcmp(r->client, client) && !strcmp(r->cpu, cpu) && !strcmp(r->metrics, metrics) &&
		    !strcmp(r->metric, metric))
			return r;
	}
	return NULL;
}

int calibration_path(struct buf *path, struct err *e)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

	if (data && *data == '/')
		buf_fmt(path, "%s/arcprof/calibration", data);
	else if (home && *home == '/')
		buf_fmt(path, "%s/.local/share/arcprof/calibration", home);
	else
		return err_set(e, ENOENT,
			       "neither XDG_DATA_HOME nor HOME names a folder for the calibration");
	return 0;
}

int calibration_load(struct calibration *c, const char *path, struct err *e)
{
	const struct foreign_rule rule = { .owner = FOREIGN_ANYBODY, .max_bytes = MAX_FILE, .links = true };
	struct buf b = BUF_INIT;
	int r;

	if (access(path, F_OK) && errno == ENOENT)
		return 0;
	r = foreign_read(AT_FDCWD, path, &rule, &b, e);
	if (!r) {
		r = calibration_parse(c, b.data ? b.data : "", b.len, e);
		if (r) {
			err_wrap(e, "%s", path);
			err_hint(e, "remove the file, and 'arcprof calibrate' makes a new one");
		}
	}
	buf_release(&b);
	return r;
}

int calibration_store(const struct calibration *c, const char *path, struct err *e)
{
	struct buf b = BUF_INIT;
	struct newfile f;
	size_t i;
	int r;

	buf_str(&b, "# client\tCPU\tmetrics\tmetric\twithin\tbetween\tspread\tused\tdoubt\tsequences\tenvironment\n");
	for (i = 0; i < c->nr_rows; i++) {
		const struct calibration_row *x = &c->rows[i];

		buf_fmt(&b, "%s\t%s\t%s\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%d\t%" PRIu64,
			x->client, x->cpu, x->metrics,
			x->metric, x->cost.within, x->cost.between, x->cost.spread, x->used, x->cost.doubt);
		buf_putc(&b, '\t');
		if (cost_has_more(&x->cost))
			put_sequences(&b, &x->cost);
		else
			buf_putc(&b, '-');
		if (*x->environment)
			buf_fmt(&b, "\t%s", x->environment);
		buf_putc(&b, '\n');
	}
	place_make_folders(path, 0777);		/* what fails here is reported when the file is made */
	r = newfile_open(&f, path, &(struct newfile_opts){ .own = true }, e);
	if (r)
		err_wrap(e, "cannot create the table");
	else if ((r = io_write_quietly(f.fd, b.data, b.len)))
		r = err_set(e, -r, "cannot write %s: %s", path, strerror(-r));
	else
		r = newfile_close(&f, e);
	newfile_abandon(&f);
	buf_release(&b);
	return r;
}

void calibration_cpu(char *out)
{
	static const char *const keys[] = { "model name", "CPU part" };
	struct buf b = BUF_INIT;
	const char *s = NULL;
	size_t i;

	if (!io_slurp("/proc/cpuinfo", &b) && b.len)
		for (i = 0; i < ARRAY_SIZE(keys) && !s; i++) {
			s = strstr(b.data, keys[i]);
			s = s ? strstr(s, ": ") : NULL;
		}
	snprintf(out, CALIBRATION_NAME, "%.*s", s ? (int)strcspn(s + 2, "\t\n") : 7, s ? s + 2 : "unknown");
	buf_release(&b);
}

/* Remove what would break the table: a name comes from the kernel, or a JVM. */
static void make_plain(char *s)
{
	for (; *s; s++)
		if (*s < ' ' || *s > '~')
			*s = '?';
}

/* Return whether this is a virtual machine, as far as the processor says so. */
static bool is_virtual(void)
{
	struct buf b = BUF_INIT;
	bool is = !io_slurp("/proc/cpuinfo", &b) && b.len && strstr(b.data, " hypervisor");

	buf_release(&b);
	return is;
}

void calibration_environment(char *out)
{
	struct buf clock = BUF_INIT;
	struct utsname u;

	uname(&u);
	if (!io_slurp("/sys/devices/system/clocksource/clocksource0/current_clocksource", &clock) &&
	    clock.len)
		clock.data[strcspn(clock.data, "\n")] = '\0';
	snprintf(out, CALIBRATION_NAME, "%.20s %.50s, clock %.30s%s", u.sysname, u.release,
		 clock.len ? clock.data : "unknown", is_virtual() ? ", virtual machine" : "");
	make_plain(out);
	buf_release(&clock);
}

void calibration_hookit(char *out)
{
	size_t len;
	const void *p = calibration_trainer(&len);

	snprintf(out, CALIBRATION_NAME, "hookit-%016" PRIx64, hash_bytes(p, len));
}

void calibration_java(char *out, const char *agent, uint64_t jvm, const char *version)
{
	snprintf(out, CALIBRATION_NAME, "java-%.16s-%016" PRIx64 " %s", agent, jvm, version);
	make_plain(out);
}

const char *calibration_jvm(const char *client, const char *agent)
{
	size_t len = MIN(strlen(agent), 16u);

	if (strncmp(client, "java-", 5) || strncmp(client + 5, agent, len) || client[5 + len] != '-')
		return NULL;
	return client + 5 + len + 1;
}

const void *calibration_java_trainer(size_t *len)
{
	*len = calibrate_java_end - calibrate_java;
	return calibrate_java;
}

const void *calibration_trainer(size_t *len)
{
	*len = calibrate_trainer_end - calibrate_trainer;
	return calibrate_trainer;
}
