// SPDX-License-Identifier: GPL-2.0-or-later
// order.mjs - the stacks of threads in order of time: of each cell the one that has most of it.
import { rangeOf } from './layout.mjs';

const VOTES = 16;	// samples that are asked of a cell, evenly spaced where it has more

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

	/* Gives take(node, weight) a thread's samples in [from, to) ns, at most VOTES of them. */
	each(ids, from, to, take) {
		const isMoment = !this.begins && !this.weightNs, nr = ids.length;
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
				take(this.node[id], weight);
		}
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

/*
 * Of the contexts of some samples that which most have in common, level by level, as far as it goes on. isTop: by consumer, what
 * ends a stack, and is no part of it. Nothing is allocated for a sample: there are thousands.
 */
class Election {
	constructor({ parent, consumer }, nodeOf, isTop, mostDeep) {
		Object.assign(this, { parent, consumer, nodeOf, isTop, mostDeep, nr: 0 });
		this.paths = new Int32Array(VOTES * mostDeep);
		this.depth = new Int32Array(VOTES);
		this.weight = new Float64Array(VOTES);
		this.sums = new Float64Array(VOTES);
		this.elected = new Int32Array(mostDeep);
	}

	add(node, weight) {
		const { parent, consumer, isTop, mostDeep, paths } = this, v = this.nr++, leaf = this.nodeOf ? this.nodeOf[node] : node;
		let depth = 0;

		for (let i = leaf; i && !isTop[consumer[i]]; i = parent[i])
			depth++;
		this.depth[v] = Math.min(depth, mostDeep);
		this.weight[v] = weight;
		for (let i = leaf, level = depth - 1; level >= 0; i = parent[i], level--)
			if (level < mostDeep)
				paths[v * mostDeep + level] = i;
	}

	/* How many of elected[] there are; the samples are forgotten. */
	end() {
		const { paths, depth, weight, sums, mostDeep, elected } = this;
		let level = 0, left = (1 << this.nr) - 1;

		for (; left && level < mostDeep; level++) {
			let best = -1, above = 0;
			sums.fill(0);
			for (let v = 0; v < this.nr; v++) {
				if (!(left >> v & 1))
					continue;
				if (depth[v] <= level) {
					above += weight[v];
					continue;
				}
				/* the first that has this context counts for all */
				let first = 0;
				while (!(left >> first & 1) || depth[first] <= level || paths[first * mostDeep + level] !== paths[v * mostDeep + level])
					first++;
				sums[first] += weight[v];
				if (best < 0 || sums[first] > sums[best])
					best = first;
			}
			if (best < 0 || above > sums[best])
				break;
			elected[level] = paths[best * mostDeep + level];
			for (let v = 0; v < this.nr; v++)
				if (depth[v] <= level || paths[v * mostDeep + level] !== elected[level])
					left &= ~(1 << v);
		}
		this.nr = 0;
		return level;
	}
}

/*
 * Boxes as of a flame graph (layOut), each of one context, of a thread's stacks from from to to, in ns, in pixels of width, from a
 * row on, and how many rows they are. look: {tree, nodeOf}; cell: as wide as the narrowest box.
 */
export function layOutTimes(times, ids, { from, to, width, cell = 1, row, mostDeep, look, isTop }) {
	const election = new Election(look.tree, look.nodeOf, isTop, mostDeep), take = (node, weight) => election.add(node, weight);
	const boxes = [], open = [], step = (to - from) / width;
	let rows = 0;

	for (let x = 0; x < width; x += cell) {
		const wide = Math.min(cell, width - x);
		times.each(ids, from + x * step, from + (x + wide) * step, take);
		const nr = election.end();
		open.length = Math.min(open.length, nr);
		for (let level = 0; level < nr; level++) {
			const node = election.elected[level];
			if (open[level] && open[level].last === node) {
				open[level].width += wide;
				continue;
			}
			open.length = level;
			open.push({ x, width: wide, row: row + level, first: node, last: node, nr: 1 });
			boxes.push(open[level]);
		}
		rows = Math.max(rows, nr);
	}
	return { boxes, rows };
}
