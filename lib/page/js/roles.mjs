// SPDX-License-Identifier: GPL-2.0-or-later
// roles.mjs - what contexts are there for, as the data say it (model/roles.h): sums by that, and what is idle apart.
import { heaviest } from './sums.mjs';
import { mapTree, numbersBelow } from './tree.mjs';

export const IS_MINE = 1, IS_ENTRY = 2;
const IS_WAIT = 4, IS_CODE = 8, IS_OWN = 16;

export const IDLE = 'idle';
const WORTH_PERCENT = 1;	// what has less is no part of a first answer
const CLOCKS = ['cpu', 'cpu-clock', 'task-clock', 'cycles', 'instructions'];

function isEvent(name, event) {
	return name === event || name.startsWith(event + ':') || name.startsWith(event + '/');
}

/* Of the metrics of a recording the one to begin with: time on CPUs, if there is any. */
export function firstMetric(meta, shown) {
	for (const event of CLOCKS) {
		const m = shown.find(k => isEvent(meta.metrics[k].name, event));
		if (m !== undefined)
			return m;
	}
	return shown[0];
}

/*
 * The tree with waits of idle threads below a root of their own: {tree: {nr, parent, consumer, end}, nodeOf}. idle: as the
 * data have it; what is below an idle context is idle.
 */
export function idleApart({ nr, parent, consumer }, idle) {
	const has = Uint8Array.from(idle.of), at = new Uint32Array(nr), copy = new Uint32Array(nr);
	let most = nr + 1, next = 1;

	for (let i = nr - 1; i > 0; i--) {
		has[parent[i]] |= has[i];
		most += has[i] - idle.of[i];
	}
	const parents = new Int32Array(most), consumers = new consumer.constructor(most);
	const put = (above, c) => {
		parents[next] = above;
		consumers[next] = c;
		return next++;
	};
	for (let i = 1; i < nr; i++)
		if (!idle.of[i])
			at[i] = put(at[parent[i]], consumer[i]);
	copy[0] = put(0, idle.consumer);
	for (let i = 1; i < nr; i++) {
		if (has[i])
			copy[i] = put(copy[parent[i]], consumer[i]);
		if (idle.of[i])
			at[i] = copy[i];
	}
	return { parent: parents, consumer: consumers, nodeOf: at };
}

/*
 * Of each context of the data: {owner, code, outer: the innermost function of the program's own, of all, and of all but the
 * kernel's; wait: its reason; aside: 1 idle, 2 arcprof's own work; spent: what its time is, an index of kinds, with IDLE}.
 */
export function rolesOf({ nr, parent, consumer }, consumers, idle, kinds) {
	const make = () => numbersBelow(consumers.nr, nr), owner = make(), code = make(), outer = make(), wait = make(), aside = new Uint8Array(nr);
	const { role } = consumers, isKernel = consumers.kind.map(kind => kind === 'kernel'), spent = new Uint8Array(nr), kindOf = consumers.spent.map(s => Math.max(kinds.indexOf(s), 0));

	for (let i = 1; i < nr; i++) {
		const c = consumer[i], up = parent[i];
		owner[i] = role[c] & IS_MINE ? c : owner[up];
		code[i] = role[c] & IS_CODE ? c : code[up];
		outer[i] = role[c] & IS_CODE && !isKernel[c] ? c : outer[up];
		wait[i] = wait[up] || (role[c] & IS_WAIT ? c : 0);
		aside[i] = aside[up] & 2 | (role[c] & IS_OWN ? 2 : 0) | (idle ? idle.of[i] : 0);
		spent[i] = aside[i] & 1 ? kinds.length - 1 : kindOf[c] || spent[up];
	}
	return { owner, code, outer, wait, aside, spent };
}

/* Rows {where, what, self, mine} by two keys. */
class Tally {
	constructor() {
		this.of = new Map();
	}

	get(where, what = 0) {
		const key = where * 4294967296 + what;
		let row = this.of.get(key);
		if (!row)
			this.of.set(key, row = { where, what, self: 0, mine: 0 });
		return row;
	}

	/* The most first, and none that is not worth it. */
	most(by, nr, total) {
		return [...this.of.values()].sort((a, b) => b[by] - a[by] || a.where - b.where || a.what - b.what).slice(0, nr)
			.filter(r => r[by] && r[by] / total * 100 >= WORTH_PERCENT);
	}
}

/* Functions by what they have themselves, and the program's own with what they call of libraries. */
export function hottest(roles, tree, to, base, total, nr) {
	const { owner, code, aside } = roles, self = new Float64Array(to.length), mine = new Float64Array(to.length), rows = new Tally();

	for (let i = 1; i < tree.nr; i++) {
		if (!base[i] || aside[i])
			continue;
		self[code[i]] += base[i];
		mine[owner[i]] += base[i];
	}
	for (let c = 0; c < to.length; c++) {
		if (self[c])
			rows.get(to[c]).self += self[c];
		if (c && mine[c])
			rows.get(to[c]).mine += mine[c];
	}
	return { mine: rows.most('mine', nr, total), all: rows.most('self', nr, total) };
}

/* Of a look, the function of the program's own that has most with what it calls of libraries; but for what is idle. */
export function hottestMine({ tree, consumers, sums, metric }, idle) {
	const { role, name } = consumers, base = sums.base[metric], owner = new Uint32Array(tree.nr), mine = new Float64Array(consumers.nr);
	let best = 0;

	for (let i = 1; i < tree.nr; i++) {
		const c = tree.consumer[i];
		owner[i] = role[c] & IS_OWN || i === idle ? 0 : role[c] & IS_MINE ? c : owner[tree.parent[i]];
		mine[owner[i]] += base[i];
	}
	if (idle)
		for (let i = idle; i < tree.end[idle]; i++)
			mine[owner[i]] -= base[i];
	for (let c = 1; c < consumers.nr; c++)
		if (mine[c] > (best ? mine[best] : 0) && !name[c].startsWith('['))
			best = c;
	return best;
}

/* Waits inside work by function and reason: {rows, whole, idle}. */
export function waits(roles, tree, to, base, nr) {
	const { owner, outer, wait, aside } = roles, rows = new Tally();
	let whole = 0, idle = 0;

	for (let i = 1; i < tree.nr; i++) {
		if (!base[i] || !wait[i])
			continue;
		if (aside[i] & 1) {
			idle += base[i];
			continue;
		}
		whole += base[i];
		rows.get(to[owner[i] || outer[i]], to[wait[i]]).self += base[i];
	}
	return { rows: rows.most('self', nr, whole), whole, idle };
}

/* Who allocates what. */
export function allocations(roles, tree, to, base, total, nr) {
	const { owner, outer } = roles, rows = new Tally();

	for (let i = 1; i < tree.nr; i++)
		if (base[i])
			rows.get(to[owner[i] || outer[i]], to[tree.consumer[i]]).self += base[i];
	return rows.most('self', nr, total);
}

/* The hottest stacks of all threads together, without ways into the program: [{value, path: consumers, innermost first}]. */
export function hottestStacks(tree, consumers, fold, base, isPlace, nr) {
	const to = Uint32Array.from(fold.to, (id, c) => (isPlace(consumers.kind[c]) || consumers.role[c] & IS_ENTRY ? 0 : id));
	const { tree: merged, nodeOf } = mapTree(tree, to, fold.consumers.nr, true), sums = new Float64Array(merged.nr), out = [];

	for (let i = 1; i < tree.nr; i++)
		sums[nodeOf[i]] += base[i];
	const isOwn = i => {
		for (let at = i; at; at = merged.parent[at])
			if (fold.consumers.role[merged.consumer[at]] & IS_OWN)
				return true;
		return false;
	};
	for (const i of heaviest(null, sums, 2 * nr + 8)) {
		const path = [];
		if (out.length === nr || isOwn(i))
			continue;
		for (let at = i; at; at = merged.parent[at])
			path.push(merged.consumer[at]);
		out.push({ value: sums[i], path });
	}
	return out;
}
