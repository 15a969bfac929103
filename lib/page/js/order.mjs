// SPDX-License-Identifier: GPL-2.0-or-later
// order.mjs - the stacks of threads in order of time: of each pixel the one that has most of it.
import { rangeOf } from './layout.mjs';

const VOTES = 16;	// samples that are asked of a pixel, evenly spaced where it has more
const MOST_KNOWN = 20000;

/* The first k in [0, nr) of which the test is true; it is of all that follow. */
function firstOf(nr, test) {
	let low = 0, high = nr;

	while (low < high) {
		const middle = low + high >> 1;
		if (test(middle))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/*
 * The samples of a source by thread: of[thread] has the numbers of those of a range of nodes, by their ends. weightNs: how long
 * one stands for, before its time, for each of its weight; 0: it is a moment.
 */
export class ThreadTimes {
	constructor(samples, ranges, tickNs, weightNs) {
		const { node, weights, begins, ends } = samples.byTime(), nr = node.length, place = new Int32Array(nr);
		const count = new Uint32Array(ranges.length);
		let at = 0;

		Object.assign(this, { node, weights, begins, ends, tickNs, weightNs, ticks: begins ? null : ticksOf(samples) });
		for (let k = 0; k < nr; k++) {
			place[k] = at = rangeOf(ranges, node[k], at);
			if (at >= 0)
				count[at]++;
		}
		this.of = Array.from(count, n => new Uint32Array(n));
		count.fill(0);
		for (let k = 0; k < nr; k++)
			if (place[k] >= 0)
				this.of[place[k]][count[place[k]]++] = k;
		if (ends)
			this.of.forEach(ids => sortWithinTicks(ids, ends));
	}

	endOf(k) {
		return this.ends ? this.ends[k] : this.ticks[k] * this.tickNs;
	}

	/* before: the one before it in its thread, or -1. Those that stand for a time do not overlap. */
	beginOf(k, before) {
		if (this.begins)
			return this.begins[k];
		const end = this.endOf(k), begin = end - (this.weights ? this.weights[k] : 1) * this.weightNs;
		return before < 0 ? begin : Math.min(Math.max(begin, this.endOf(before)), end);
	}

	/* [[node, weight], ...] of a thread's samples in [from, to) ns, at most VOTES of them. */
	votes(ids, from, to) {
		const isMoment = !this.begins && !this.weightNs, nr = ids.length, out = [];
		const begin = firstOf(nr, k => (isMoment ? this.endOf(ids[k]) >= from : this.endOf(ids[k]) > from));
		let end = firstOf(nr, k => this.endOf(ids[k]) >= to);

		/* also the one that ends later */
		if (!isMoment && end < nr && this.beginOf(ids[end], end ? ids[end - 1] : -1) < to)
			end++;
		const most = Math.min(end - begin, VOTES);
		for (let v = 0; v < most; v++) {
			const k = begin + Math.floor((v + 0.5) * (end - begin) / most), id = ids[k];
			const weight = isMoment ? (this.weights ? this.weights[id] : 1) :
				Math.min(this.endOf(id), to) - Math.max(this.beginOf(id, k ? ids[k - 1] : -1), from);
			if (weight > 0)
				out.push([this.node[id], weight]);
		}
		return out;
	}
}

function ticksOf({ first }) {
	const ticks = first.length - 1, out = ticks < 65536 ? new Uint16Array(first[ticks]) : new Uint32Array(first[ticks]);

	for (let t = 0; t < ticks; t++)
		out.fill(t, first[t], first[t + 1]);
	return out;
}

/* They are in order of their ticks: each has hardly a step to go. */
function sortWithinTicks(ids, ends) {
	for (let i = 1; i < ids.length; i++) {
		const id = ids[i];
		let at = i;
		for (; at && ends[ids[at - 1]] > ends[id]; at--)
			ids[at] = ids[at - 1];
		ids[at] = id;
	}
}

/* What most of the votes have in common, level by level, as far as they go on: a path from the outermost. */
function elect(votes, pathOf) {
	let left = votes.map(([node, weight]) => ({ path: pathOf(node), weight })), level = 0;

	if (votes.length === 1)
		return left[0].path;
	for (;; level++) {
		const sums = new Map();
		for (const { path, weight } of left)
			sums.set(path[level], (sums.get(path[level]) || 0) + weight);	// undefined: it ends above
		const [best] = [...sums].reduce((a, b) => (b[1] > a[1] ? b : a));
		left = left.filter(({ path }) => path[level] === best);
		if (best === undefined)
			return left[0].path;
		if (left.length === 1)
			return left[0].path;
	}
}

/*
 * Boxes {x, width, row, node} of a thread's stacks from from to to, in ns, in pixels of width, from a row on; and how many rows
 * they are. pathOf(node of a sample): its contexts, the outermost first.
 */
export function layOutTimes(times, ids, { from, to, width, row, mostDeep, pathOf }) {
	const boxes = [], open = [], known = new Map(), step = (to - from) / width;
	let rows = 0;
	const path = node => {
		if (known.size > MOST_KNOWN)
			known.clear();
		if (!known.has(node))
			known.set(node, pathOf(node));
		return known.get(node);
	};

	for (let x = 0; x < width; x++) {
		const votes = times.votes(ids, from + x * step, from + (x + 1) * step), nodes = votes.length ? elect(votes, path) : [];
		const nr = Math.min(nodes.length, mostDeep);
		open.length = Math.min(open.length, nr);
		for (let level = 0; level < nr; level++) {
			if (open[level] && open[level].node === nodes[level]) {
				open[level].width++;
				continue;
			}
			open.length = level;
			open.push({ x, width: 1, row: row + level, node: nodes[level] });
			boxes.push(open[level]);
		}
		rows = Math.max(rows, nr);
	}
	return { boxes, rows };
}
