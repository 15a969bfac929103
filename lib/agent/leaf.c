// SPDX-License-Identifier: MIT
/*
 * leaf.c - numbers of what samples end in beside methods: classes, and reasons of waits. Each is sent to the
 * recorder once.
 */
#include "agent/hashes.h"
#include "agent/leaf.h"
#include "agent/ring.h"
#include "agent/sys.h"

static struct hashes leaves;
static struct sys_lock lock;	/* of them */
static uint32_t nr_leaves;

static uint32_t new_leaf(enum jvm_leaf_kind kind, const char *name, size_t len)
{
	const struct jvm_leaf r = {
		.time_ns = sys_now(), .leaf = ++nr_leaves, .kind = kind, .name = name, .name_len = len,
	};

	send_leaf(NULL, &r);
	return r.leaf;
}

static struct hashes_key key(enum jvm_leaf_kind kind, const char *name, size_t len)
{
	struct hashes_key k = HASHES_KEY;
	char c = kind;

	hashes_text(&k, &c, 1);
	hashes_text(&k, name, len);
	return k;
}

uint32_t leaf_known(enum jvm_leaf_kind kind, const char *name, size_t len)
{
	const struct hashes_key k = key(kind, name, len);
	uint32_t leaf;

	sys_lock(&lock);
	leaf = hashes_get(&leaves, &k);
	sys_unlock(&lock);
	return leaf;
}

uint32_t leaf_number(enum jvm_leaf_kind kind, const char *name, size_t len)
{
	const struct hashes_key k = key(kind, name, len);
	uint32_t *at, leaf = 0;

	sys_lock(&lock);
	at = hashes_put(&leaves, &k);
	if (at && !*at)
		*at = new_leaf(kind, name, len);
	if (at)
		leaf = *at;
	sys_unlock(&lock);
	return leaf;
}

void leaf_forget_all(void)
{
	sys_lock(&lock);
	hashes_forget(&leaves);
	sys_unlock(&lock);
}
