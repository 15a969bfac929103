// SPDX-License-Identifier: GPL-2.0-or-later
// sums.mjs - what contexts consumed in a selection of time and threads, and the sums of functions over contexts.

/*
 * selection: {from, to: ticks, or null; ranges: [[node, end), ...] of the data's tree, or null for all}.
 * nodeOf: where the data's nodes are in tree; null: the same. Gives {n, base: [metric], cum: [metric], isOwn: nobody else has
 * these arrays}, by node of tree. spare: sums with isOwn that are of no more use, whose arrays are used again if they are as long; or null.
 */
export function sumUp(data, tree, nodeOf, selection, spare = null) {
	const { from, ranges } = selection, all = [[1, data.parent.length]];
	if (from !== null && nodeOf && !ranges) {
		const used = spare && spare.n.length === tree.nr ? spare : null, out = valuesIn(data, selection, tree.nr, nodeOf, used);
		out.cum = out.base.map((base, m) => cumulate(tree, base, used ? used.cum[m] : new Float64Array(tree.nr)));
		return { ...out, isOwn: true };
	}
	const picked = valuesOf(data, selection);
	const move = values => (ranges || nodeOf || tree.nr !== values.length ? moved(values, tree.nr, nodeOf, ranges || all) : values);
	const out = { n: move(picked.n), base: picked.base.map(move) };

	out.cum = out.base.map(base => cumulate(tree, base));
	return out;
}

/* n and base of the data's nodes in the time that is selected, whatever the ranges are. */
export function valuesOf(data, selection) {
	return selection.from === null ? data : valuesIn(data, selection);
}

/* Those of the ranges of nodes alone. */
export function masked(values, ranges) {
	return ranges ? moved(values, values.length, null, ranges) : values;
}

function moved(values, nr, nodeOf, ranges) {
	const out = new values.constructor(nr);

	for (const [begin, end] of ranges)
		if (nodeOf)
			for (let i = begin; i < end; i++)
				out[nodeOf[i]] += values[i];
		else
			out.set(values.subarray(begin, end), begin);
	return out;
}

/* n and base of the data's nodes, or of those of a tree that they went to, in a part of the time. */
function valuesIn(data, { from, to }, nr = data.parent.length, nodeOf = null, spare = null) {
	const out = spare ? { n: spare.n.fill(0), base: spare.base.map(base => base.fill(0)) } :
		{ n: new data.n.constructor(nr), base: data.base.map(() => new Float64Array(nr)) };

	let into = out.n instanceof Uint32Array ? out.n : null;		// the first counts are counted where they belong

	data.samples.forEach((samples, k) => {
		const source = data.meta.sources[k], { scale } = data.meta.metrics[source.metric];
		if (!samples)
			return;
		const inPlace = source.counts_in_n && into, count = inPlace ? into : new Uint32Array(nr);
		const weight = samples.lasting ? partsIn(samples, from, to, count, nodeOf) : samplesIn(samples, from, to, count, nodeOf);
		addScaled(out.base[source.metric], weight, samples.lasting ? 1 : scale);
		if (inPlace)
			into = null;
		else if (source.counts_in_n)
			addScaled(out.n, count, 1);
		else if (source.count_metric !== null)
			addScaled(out.base[source.count_metric], count, 1);
	});
	return out;
}

/* Counts by node, into count, and gives the weights: large arrays that are made for each selection are collected too late. */
function samplesIn(samples, from, to, count, nodeOf) {
	const { first } = samples, { node, weights } = samples.byTime(), last = first.length - 1;
	const begin = first[Math.min(from, last)], end = first[Math.min(to, last)], weight = weights ? new Float64Array(count.length) : count;

	for (let k = begin; k < end; k++)
		count[nodeOf ? nodeOf[node[k]] : node[k]]++;
	if (weights)
		for (let k = begin; k < end; k++)
			weight[nodeOf ? nodeOf[node[k]] : node[k]] += weights[k];
	return weight;
}

/*
 * The same of those that last, in ns: the part of each that is in the selection, of all that end in it or later. What
 * began before the recording is in the first tick.
 */
function partsIn(samples, from, to, count, nodeOf) {
	const { first, lasting } = samples, { node, begins, ends } = samples.byTime(), last = first.length - 1;
	const low = from > 0 ? from * lasting.tickNs : -Infinity, high = to < last ? to * lasting.tickNs : Infinity;
	const weight = new Float64Array(count.length);

	for (let k = first[Math.min(from, last)]; k < node.length; k++) {
		const begin = Math.max(begins[k], low), end = Math.min(ends[k], high), at = nodeOf ? nodeOf[node[k]] : node[k];
		if (begin < end) {
			count[at]++;
			weight[at] += end - begin;
		} else if (begins[k] === ends[k] && ends[k] >= low && ends[k] < high) {
			count[at]++;
		}
	}
	return weight;
}

/* The root has what went to it of contexts that are not shown. */
function addScaled(sums, values, scale) {
	for (let i = 0; i < values.length; i++)
		sums[i] += values[i] * scale;
}

export function cumulate(tree, base, cum = new Float64Array(base.length)) {
	const { nr, parent } = tree;

	cum.set(base);
	for (let i = nr - 1; i > 0; i--)
		cum[parent[i]] += cum[i];
	return cum;
}

/* The most nodes with the greatest values, descending, none of 0; nodes null: all, the root with what is in no function. */
export function heaviest(nodes, values, most) {
	const out = [], { length } = nodes || values;

	for (let k = 0; k < length; k++) {
		const i = nodes ? nodes[k] : k;
		if (!values[i] || (out.length === most && values[i] <= values[out[most - 1]]))
			continue;
		let at = out.length;
		while (at && values[out[at - 1]] < values[i])
			at--;
		out.splice(at, 0, i);
		out.length = Math.min(out.length, most);
	}
	return out;
}

/* The flat profile: of each consumer n, base, cum of recursion level 1, and cum2, of the levels above it. */
export function profile(tree, sums) {
	const make = () => new Float64Array(tree.nrConsumers);
	const p = { n: make(), base: sums.base.map(make), cum: sums.base.map(make), cum2: sums.base.map(make) };

	addByConsumer(p.n, sums.n, tree.consumer);
	sums.base.forEach((base, m) => {
		addByConsumer(p.base[m], base, tree.consumer);
		addLevels(p.cum[m], p.cum2[m], sums.cum[m], tree);
	});
	return p;
}

function addByConsumer(sums, values, consumer) {
	for (let i = 1; i < consumer.length; i++)
		sums[consumer[i]] += values[i];
}

function addLevels(outer, inner, cum, { nr, consumer, rl }) {
	for (let i = 1; i < nr; i++)
		if (rl[i] === 1)
			outer[consumer[i]] += cum[i];
		else
			inner[consumer[i]] += cum[i];
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
	if (sums.n[i] > 0)
		return true;
	for (const cum of sums.cum)
		if (cum[i] > 0)
			return true;
	return false;
}

/* A row for each consumer that comes up. */
class Rows {
	constructor(sums, nrConsumers) {
		this.rows = [];
		this.at = new Uint32Array(nrConsumers);	// plus 1
		this.sums = sums;
	}

	add(consumer, i) {
		if (!this.at[consumer])
			this.at[consumer] = this.rows.push(newRow(consumer, this.sums.base.length));
		addNode(this.rows[this.at[consumer] - 1], this.sums, i);
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
	const rows = () => new Rows(sums, tree.nrConsumers);
	const parents = rows(), kids = rows(), rparents = rows(), rkids = rows();
	let nodes = 0, rnodes = 0;

	for (let k = tree.firstOf[consumer]; k < tree.firstOf[consumer + 1]; k++) {
		const i = tree.byConsumer[k], outer = tree.rl[i] === 1;
		if (!isLive(sums, i))
			continue;
		nodes += outer;
		rnodes += !outer;
		addNode(outer ? self : rself, sums, i);
		(outer ? parents : rparents).add(tree.consumer[tree.parent[i]], i);
		const below = outer ? kids : rkids;
		for (let child = i + 1; child < tree.end[i]; child = tree.end[child])
			if (isLive(sums, child))
				below.add(tree.consumer[child], child);
	}
	const out = {
		consumer, self, rself, nodes, rnodes, parents: parents.rows, children: kids.rows,
		rparents: rparents.rows, rchildren: rkids.rows,
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
	const { nr, end } = tree, base = sums.base[m], cum = sums.cum[m], bad = [];
	let total = base[0], nrWrong = 0;	// the root has what hidden roots used

	for (let i = 1; i < nr; i++) {
		let below = base[i];
		for (let child = i + 1; child < end[i]; child = end[child])
			below += cum[child];
		total += base[i];
		nrWrong += below !== cum[i];
	}
	if (nrWrong)
		bad.push(`${nrWrong} contexts are not the sum of what is below them`);
	if (total !== cum[0])
		bad.push('the sum of all contexts is not the total');
	const levels = wrongLevels(tree);
	if (levels)
		bad.push(`${levels} contexts have a wrong recursion level`);
	return bad;
}

function wrongLevels({ nr, nrConsumers, parent, consumer, rl }) {
	const open = new Uint32Array(nrConsumers), path = [0];
	let depth = 0, wrong = 0;

	for (let i = 1; i < nr; i++) {
		while (depth && path[depth] !== parent[i])
			open[consumer[path[depth--]]]--;
		path[++depth] = i;
		wrong += ++open[consumer[i]] !== rl[i];
	}
	return wrong;
}
