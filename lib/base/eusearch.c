// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * eusearch.c - search trees of elfutils since 0.192: tsearch() with a lock.  libdw.a and libelf.a use
 * them, and some distributions leave them out of both.  The linker takes this file only then (libeu.a
 * in the Makefile).  There is no lock, as in elfutils before, and as in one built without thread
 * safety: a Dwarf belongs to one thread.
 */
#include <search.h>
#include <stddef.h>

/* The first member of elfutils' structure alone, which no configuration moves. */
struct search_tree {
	void *root;
};

typedef int compare_fn(const void *, const void *);

void *eu_tsearch(const void *key, struct search_tree *tree, compare_fn *compare);
void *eu_tfind(const void *key, struct search_tree *tree, compare_fn *compare);
void *eu_tdelete(const void *key, struct search_tree *tree, compare_fn *compare);
void eu_tdestroy(struct search_tree *tree, void (*free_node)(void *));
void eu_search_tree_init(struct search_tree *tree);
void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *));

void *eu_tsearch(const void *key, struct search_tree *tree, compare_fn *compare)
{
	return tsearch(key, &tree->root, compare);
}

void *eu_tfind(const void *key, struct search_tree *tree, compare_fn *compare)
{
	return tfind(key, &tree->root, compare);
}

void *eu_tdelete(const void *key, struct search_tree *tree, compare_fn *compare)
{
	return tdelete(key, &tree->root, compare);
}

void eu_tdestroy(struct search_tree *tree, void (*free_node)(void *))
{
	tdestroy(tree->root, free_node);
	tree->root = NULL;
}

void eu_search_tree_init(struct search_tree *tree)
{
	tree->root = NULL;
}

void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *))
{
	eu_tdestroy(tree, free_node);
}
