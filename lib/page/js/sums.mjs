// SPDX-License-Identifier: GPL-2.0-or-later
// sums.mjs - what contexts consumed in a selection of time and threads, and the sums of functions over contexts.
import { children } from './tree.mjs';

/*
 * selection: {from, to: ticks, or null; ranges: [[node, end), ...] of the data's tree, or null for all}.
 * nodeOf: where the data's nodes are in tree; null: the same. Gives {n, base: [metric], cum: [metric]}, by node of tree.
 */
export function sumUp(data, tree, nodeOf, selection) {
	const out = { n: new Float64Array(tree.nr), base: data.base.map(() => new Float64Array(tree.nr)) };
	const ranges = selection.ranges || [[1, data.parent.length]];

	for (const [begin, end] of ranges)
		if (selection.from === null)
			addWhole(data, out, nodeOf, begin, end);
		else
			addTimes(data, out, nodeOf, begin, end, selection);
	out.cum = out.base.map(base => cumulate(tree, base));
	return out;
}

function addWhole(data, out, nodeOf, begin, end) {
	for (let i = begin; i < end; i++)
		out.n[nodeOf ? nodeOf[i] : i] += data.n[i];
	data.base.forEach((from, m) => {
		const base = out.base[m];
		for (let i = begin; i < end; i++)
			base[nodeOf ? nodeOf[i] : i] += from[i];
	});
}

function addTimes(data, out, nodeOf, begin, end, { from, to }) {
	data.samples.forEach((s, at) => {
		const source = data.meta.sources[at];

		if (!s)
			return;
		const base = out.base[source.metric], scale = data.meta.metrics[source.metric].scale;
		const n = source.counts_in_n ? out.n : source.count_metric === null ? null : out.base[source.count_metric];
		for (let i = begin; i < end; i++) {
			let nr = 0, weight = 0;
			for (let k = s.first[i]; k < s.first[i + 1]; k++) {
				if (s.ticks[k] < from || s.ticks[k] >= to)
					continue;
				nr++;
				weight += s.weights ? s.weights[k] : 1;
			}
			if (!nr)
				continue;
			const node = nodeOf ? nodeOf[i] : i;
			base[node] += weight * scale;
			if (n)
				n[node] += nr;
		}
	});
}

export function cumulate(tree, base) {
	const cum = base.slice();

	for (let i = tree.nr - 1; i > 0; i--)
		cum[tree.parent[i]] += cum[i];
	return cum;
}

/* The flat profile: of each consumer n, base, cum of recursion level 1, and cum2, of the levels above it. */
export function profile(tree, sums) {
	const make = () => new Float64Array(tree.nrConsumers);
	const p = { n: make(), base: sums.base.map(make), cum: sums.base.map(make), cum2: sums.base.map(make) };

	for (let i = 1; i < tree.nr; i++)
		p.n[tree.consumer[i]] += sums.n[i];
	sums.base.forEach((base, m) => {
		const cum = sums.cum[m];
		for (let i = 1; i < tree.nr; i++) {
			p.base[m][tree.consumer[i]] += base[i];
			(tree.rl[i] === 1 ? p.cum : p.cum2)[m][tree.consumer[i]] += cum[i];
		}
	});
	return p;
}

function addNode(row, sums, i) {
	row.n += sums.n[i];
	for (let m = 0; m < row.base.length; m++) {
		row.base[m] += sums.base[m][i];
		row.cum[m] += sums.cum[m][i];
	}
}

/* Has the selection anything in this context or below it? */
export function isLive(sums, i) {
	return sums.n[i] > 0 || sums.cum.some(cum => cum[i] > 0);
}

class Rows {
	constructor(nrMetrics) {
		this.rows = new Map();
		this.nrMetrics = nrMetrics;
	}

	add(consumer, sums, i) {
		let row = this.rows.get(consumer);
		if (!row)
			this.rows.set(consumer, row = newRow(consumer, this.nrMetrics));
		addNode(row, sums, i);
	}

	list() {
		return [...this.rows.values()];
	}
}

function newRow(consumer, nrMetrics) {
	return { consumer, n: 0, base: new Array(nrMetrics).fill(0), cum: new Array(nrMetrics).fill(0) };
}

/*
 * The stanza of a consumer as xarc has it: contexts of recursion level 1 make self, its parents and children, the
 * others the rows with r. Consumer 0 among the parents: it is a root there.
 */
export function stanza(tree, sums, consumer) {
	const nr = sums.base.length, self = newRow(consumer, nr), rself = newRow(consumer, nr);
	const parents = new Rows(nr), kids = new Rows(nr), rparents = new Rows(nr), rkids = new Rows(nr);
	let nodes = 0, rnodes = 0;

	for (let k = tree.firstOf[consumer]; k < tree.firstOf[consumer + 1]; k++) {
		const i = tree.byConsumer[k], outer = tree.rl[i] === 1;
		if (!isLive(sums, i))
			continue;
		nodes += outer;
		rnodes += !outer;
		addNode(outer ? self : rself, sums, i);
		(outer ? parents : rparents).add(tree.consumer[tree.parent[i]], sums, i);
		for (const child of children(tree, i))
			if (isLive(sums, child))
				(outer ? kids : rkids).add(tree.consumer[child], sums, child);
	}
	const out = {
		consumer, self, rself, nodes, rnodes, parents: parents.list(), children: kids.list(),
		rparents: rparents.list(), rchildren: rkids.list(),
	};
	if (out.parents.length === 1 && !out.parents[0].consumer)
		out.parents = [];	// it is a root and nothing else
	return out;
}

/* The laws of a stanza, for the metric: what does not hold, in words; none: []. */
export function brokenLaws(s, m) {
	const sum = (rows, key) => rows.reduce((x, r) => x + (key === 'n' ? r.n : r[key][m]), 0);
	const bad = [];
	const law = (what, a, b) => a !== b && bad.push(what);

	if (s.parents.length) {
		law('the callers’ counts are not those of the function', sum(s.parents, 'n'), s.self.n);
		law('the callers’ sums are not that of the function', sum(s.parents, 'cum'), s.self.cum[m]);
	}
	law('self and callees are not the function’s sum', s.self.base[m] + sum(s.children, 'cum'), s.self.cum[m]);
	law('the recursive callers’ sums are wrong', sum(s.rparents, 'cum'), s.rself.cum[m]);
	law('recursive self and callees are wrong', s.rself.base[m] + sum(s.rchildren, 'cum'), s.rself.cum[m]);
	return bad;
}

/* The same of the whole tree, each law from its definition: what does not hold. */
export function brokenTree(tree, sums, m) {
	const base = sums.base[m], cum = sums.cum[m], below = new Float64Array(tree.nr), bad = [];
	const open = new Map();
	let total = base[0], nrWrong = 0, levels = 0;	// the root has what hidden roots used

	for (let i = 1; i < tree.nr; i++) {
		total += base[i];
		below[tree.parent[i]] += cum[i];
	}
	for (let i = 1; i < tree.nr; i++)
		nrWrong += base[i] + below[i] !== cum[i];
	if (nrWrong)
		bad.push(`${nrWrong} contexts are not the sum of what is below them`);
	if (total !== cum[0])
		bad.push('the sum of all contexts is not the total');
	const path = [0];
	for (let i = 1; i < tree.nr; i++) {
		while (path.length > 1 && path[path.length - 1] !== tree.parent[i]) {
			const c = tree.consumer[path.pop()];
			open.set(c, open.get(c) - 1);
		}
		path.push(i);
		open.set(tree.consumer[i], (open.get(tree.consumer[i]) || 0) + 1);
		levels += open.get(tree.consumer[i]) !== tree.rl[i];
	}
	if (levels)
		bad.push(`${levels} contexts have a wrong recursion level`);
	return bad;
}
