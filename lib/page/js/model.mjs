// SPDX-License-Identifier: GPL-2.0-or-later
// model.mjs - from the state of the page to what its views show; what was worked out is kept while it fits.
import { Difference } from './difference.mjs';
import { laneCells } from './layout.mjs';
import { readMore } from './more.mjs';
import { foldConsumers, isFunction, wordsOf } from './names.mjs';
import { makeTree, mapTree, subtreeEnds } from './tree.mjs';
import { profile, stanza, sumUp } from './sums.mjs';

const MOST_TREES = 3, MOST_SELECTIONS = 2;

export class Model {
	/* more: readMore() of what is beside the tree; shape: which tree it is. */
	constructor(data, more = readMore(null), shape = '') {
		this.data = data;
		this.more = more;
		this.meta = data.meta;
		this.words = wordsOf(data.meta, shape || more.trees[0]);
		this.tree = { nr: data.parent.length, parent: data.parent, consumer: data.consumer, end: subtreeEnds(data.parent) };
		this.threadNodes = nodesOfThreads(data);
		this.weight = weigh(data);
		this.hasLines = data.consumers.detail.some((d, c) => d && isFunction(data.consumers.kind[c]));
		this.trees = new Map();
		this.selections = new Map();
		this.difference = data.meta.difference ? new Difference(data.meta) : null;
		this.shown = data.meta.metrics.map((_, m) => m).filter(m => data.meta.metrics[m].shown);
	}

	metricOf(state) {
		const m = this.meta.metrics.findIndex(metric => metric.name === state.metric && metric.shown);

		return m < 0 ? this.shown[0] : m;
	}

	/* The source whose times the time view shows for a metric; -1: it has none. */
	timedSourceOf(metric) {
		const exact = this.meta.sources.findIndex((s, i) => s.metric === metric && this.data.samples[i]);

		return exact >= 0 ? exact : this.data.samples.findIndex(s => s);
	}

	/* {tree, nodeOf, consumers} of the data's contexts, folded as the state says. */
	folded(state) {
		const key = [state.fold, state.merge, state.hide].join('|');
		let made = this.trees.get(key);

		if (!made) {
			const without = new Set(state.hide.split(',').filter(Boolean));
			const fold = foldConsumers(this.data.consumers, this.weight, { fold: state.fold, mergeThreads: state.merge, without });
			made = { ...this.mapped(fold), consumers: fold.consumers, key };
			keep(this.trees, key, made, MOST_TREES);
		}
		return made;
	}

	/* Consumers of a fold are numbered as they come: if there are as many as before, they are those. */
	mapped({ to, consumers, merge }) {
		const { parent, consumer } = this.tree;

		if (!merge && consumers.nr === this.data.consumers.nr)
			return { tree: makeTree(parent, consumer, consumers.nr), nodeOf: null };
		return mapTree(this.tree, to, consumers.nr, merge);
	}

	/* Subtrees of the selected threads in the data's tree, in order; null: all. */
	ranges(state) {
		const wanted = state.threads.split(',').filter(Boolean).map(Number);

		if (!wanted.length)
			return null;
		return wanted.filter(i => i > 0 && i < this.tree.nr).sort((a, b) => a - b).map(i => [i, this.tree.end[i]]);
	}

	selection(state) {
		const timed = state.from !== '' && state.to !== '' && this.data.samples.some(s => s);

		return { from: timed ? Number(state.from) : null, to: timed ? Number(state.to) : null,
			ranges: this.ranges(state) };
	}

	/* All that views of one state share; the same object as long as it is kept. */
	look(state) {
		const folded = this.folded(state), key = [folded.key, state.threads, state.from, state.to].join('|');
		let selected = this.selections.get(key);

		if (!selected) {
			const sums = sumUp(this.data, folded.tree, folded.nodeOf, this.selection(state));
			selected = { ...folded, sums, profile: profile(folded.tree, sums), stanzas: new Map(), looks: new Map() };
			keep(this.selections, key, selected, MOST_SELECTIONS);
		}
		const metric = this.metricOf(state);
		let look = selected.looks.get(metric);
		if (!look) {
			const sides = this.difference ? this.difference.of(selected) : null;
			look = { ...selected, sides, metric, unit: this.meta.metrics[metric].unit, ...this.occurrences(selected, metric) };
			selected.looks.set(metric, look);
		}
		return look;
	}

	/* n belongs to a source: of nodes and of consumers, that of the metric's. */
	occurrences(look, metric) {
		const source = this.meta.sources.find(s => s.metric === metric);

		if (!source || source.counts_in_n || source.count_metric === null)
			return { n: look.sums.n, nOf: look.profile.n };
		return { n: look.sums.base[source.count_metric], nOf: look.profile.base[source.count_metric] };
	}

	stanza(look, consumer) {
		let s = look.stanzas.get(consumer);

		if (!s)
			look.stanzas.set(consumer, s = stanza(look.tree, look.sums, consumer));
		return s;
	}

	/* The threads' nodes of the data's tree, with what they consumed, most first. */
	threads(metric) {
		const { end } = this.tree, base = this.data.base[metric];

		return this.threadNodes.map(node => {
			let sum = 0;
			for (let i = node; i < end[node]; i++)
				sum += base[i];
			return { node, consumer: this.data.consumer[node], sum };
		}).sort((a, b) => b.sum - a.sum || a.node - b.node);
	}

	/* The same with what each did, where that was recorded; then threads that did something but have no samples. */
	lanesOfThreads(metric) {
		const threads = this.threads(metric), { states, consumers } = this.data;

		if (!states)
			return threads;
		const key = (pid, tid) => pid + ' ' + tid, left = new Map(states.threads.map(s => [key(s.pid, s.tid), s]));
		const known = threads.map(t => {
			const k = key(consumers.pid[t.consumer], consumers.tid[t.consumer]), found = left.get(k);
			left.delete(k);
			return { ...t, states: found };
		});
		return [...known, ...[...left.values()].sort((a, b) => b.ns[0] - a.ns[0]).map(s => ({ node: 0, sum: 0, states: s }))];
	}

	/* How much of the source each of the threads has in each of columns parts of the time. */
	lanes(source, threads, columns) {
		const byNode = threads.map(t => t.node).sort((a, b) => a - b);
		const cells = laneCells(this.data.samples[source], byNode.map(node => [node, this.tree.end[node]]), columns);

		return threads.map(t => cells[byNode.indexOf(t.node)]);
	}
}

function nodesOfThreads({ consumer, consumers }) {
	const out = [];

	for (let i = 1; i < consumer.length; i++)
		if (consumers.kind[consumer[i]] === 'thread')
			out.push(i);
	return out;
}

function keep(map, key, value, most) {
	if (map.size >= most)
		map.delete(map.keys().next().value);
	map.set(key, value);
}

/* Of each consumer: what ended there, and a little for each of its contexts. */
function weigh(data) {
	const weight = new Float64Array(data.consumers.nr);

	for (let i = 1; i < data.parent.length; i++)
		weight[data.consumer[i]] += data.n[i] * 1048576 + 1;
	return weight;
}

/* Functions are told from processes, threads and marks: those are no stanza to begin with. */
/* What of a function stands in the address: numbers would be others in the next recording. */
export function idOf(consumers, c) {
	return [consumers.name[c], consumers.module[c], consumers.detail[c], consumers.pid[c] || '', consumers.tid[c] || '']
		.join('\n').trimEnd();
}

export function consumerOf(look, id) {
	if (id)
		for (let c = 1; c < look.consumers.nr; c++)
			if (look.consumers.name[c] === id.split('\n')[0] && idOf(look.consumers, c) === id)
				return c;
	return hottest(look);
}

function hottest(look) {
	const base = look.sides ? changes(look.sides.self) : look.profile.base[look.metric];
	let best = 0;

	for (let c = 1; c < look.consumers.nr; c++)
		if (isFunction(look.consumers.kind[c]) && !/^\[/.test(look.consumers.name[c]) && (!best || base[c] > base[best]))
			best = c;
	return best || (look.consumers.nr > 1 ? 1 : 0);
}

/* How much each differs, whichever way. */
export function changes([a, b]) {
	return a.map((x, i) => Math.abs(b[i] - x));
}

/* The flat profile's rows: consumers that have anything, by what key says, descending. */
export function flatRows(look, key, matches) {
	const { base, cum } = look.profile, n = look.nOf, m = look.metric, rows = [];
	if (look.sides)
		return flatChanges(look, key, matches);
	const by = { self: c => base[m][c], total: c => cum[m][c], n: c => n[c], again: c => look.profile.cum2[m][c] }[key];

	for (let c = 1; c < look.consumers.nr; c++)
		if ((cum[m][c] > 0 || base[m][c] > 0 || n[c] > 0) && (!matches || matches(c)))
			rows.push(c);
	if (by)
		rows.sort((a, b) => by(b) - by(a) || a - b);
	else
		rows.sort((a, b) => (look.consumers.name[a] < look.consumers.name[b] ? -1 : 1));
	return rows;
}

/* The same of two sides: what changed most first. */
function flatChanges({ sides, consumers }, key, matches) {
	const by = key === 'name' ? null : changes(key === 'total' ? sides.total : sides.self), rows = [];

	for (let c = 1; c < consumers.nr; c++)
		if ((sides.total[0][c] > 0 || sides.total[1][c] > 0) && (!matches || matches(c)))
			rows.push(c);
	return rows.sort((a, b) => (by ? by[b] - by[a] || sides.total[1][b] - sides.total[1][a] || a - b :
		consumers.name[a] < consumers.name[b] ? -1 : 1));
}

/* Paths that reach the function, the heaviest first: {path: consumers from the outermost, share}. */
export function pathsTo(look, consumer, most) {
	const { tree, sums, metric } = look, cum = sums.cum[metric], total = look.profile.cum[metric][consumer];

	return heaviest(tree.byConsumer.subarray(tree.firstOf[consumer], tree.firstOf[consumer + 1])
		.filter(i => tree.rl[i] === 1 && cum[i] > 0), cum, most).map(i => {
		const path = [];
		for (let p = tree.parent[i]; p; p = tree.parent[p])
			path.push(tree.consumer[p]);
		return { node: i, path, share: cum[i] / total };
	});
}

/* The most nodes with the greatest values, descending. */
function heaviest(nodes, value, most) {
	const out = [];

	for (const i of nodes) {
		if (out.length === most && value[i] <= value[out[most - 1]])
			continue;
		let at = out.length;
		while (at && value[out[at - 1]] < value[i])
			at--;
		out.splice(at, 0, i);
		out.length = Math.min(out.length, most);
	}
	return out;
}

/* A function's lines: {line, file, self, total, n}, from the look that is folded by line. */
export function linesOf(lines, consumers, name, module) {
	const out = [];

	for (let c = 1; c < lines.consumers.nr; c++) {
		if (lines.consumers.name[c] !== name || lines.consumers.module[c] !== module)
			continue;
		const [, file, line] = /^(.*):(\d+)$/.exec(lines.consumers.detail[c]) || [null, lines.consumers.detail[c], ''];
		const p = lines.profile, m = lines.metric;
		if (p.cum[m][c] > 0 || p.base[m][c] > 0)
			out.push({ file, line: line === '' ? null : Number(line), self: p.base[m][c], total: p.cum[m][c], n: lines.nOf[c] });
	}
	return out.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line));
}

/* A filter of the search field: text, or /a pattern/; null: nothing is sought. */
export function matcher(consumers, text) {
	if (!text)
		return null;
	const asPattern = /^\/(.+)\/?$/.exec(text);
	let test;

	if (asPattern) {
		try {
			const re = new RegExp(asPattern[1].replace(/\/$/, ''), 'i');
			test = s => re.test(s);
		} catch (e) {
			return () => false;	// not a pattern yet
		}
	} else {
		const low = text.toLowerCase();
		test = s => s.toLowerCase().includes(low);
	}
	const known = new Uint8Array(consumers.name.length);	// 1: no, 2: yes
	return c => {
		if (!known[c])
			known[c] = test(consumers.name[c]) ? 2 : 1;
		return known[c] === 2;
	};
}
