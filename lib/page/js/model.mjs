// SPDX-License-Identifier: GPL-2.0-or-later
// model.mjs - from the state of the page to what its views show; what was worked out is kept while it fits.
import { Difference } from './difference.mjs';
import { laneCells, spentLanes } from './layout.mjs';
import { sizeKeyOf } from './means.mjs';
import { readMore } from './more.mjs';
import { foldConsumers, fullName, isFunction, poolName, wordsOf } from './names.mjs';
import { ThreadTimes } from './order.mjs';
import { makeTree, mapTree, subtreeEnds } from './tree.mjs';
import { firstMetric, hottestMine, IDLE, idleApart, rolesOf } from './roles.mjs';
import { heaviest, masked, profile, stanza, sumUp, valuesOf } from './sums.mjs';

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
		this.first = firstMetric(data.meta, this.shown);
		this.hasRoles = !this.difference && data.meta.n_means !== 'objects';
		this.sizeKey = data.meta.n_means === 'calls' && !this.difference ? sizeKeyOf(data.consumers) : '';
		this.values = { key: null };
		this.spent = [...(data.meta.spent || ['']), IDLE];
		this.wall = data.meta.sources.findIndex((s, i) => s.lasts && data.meta.metrics[s.metric].name === 'wall' && data.samples[i]);
	}

	/* What contexts are there for; found out when it is asked for. */
	get roles() {
		return this.rolesFound ??= rolesOf(this.tree, this.data.consumers, this.data.idle, this.spent);
	}

	/* Functions and threads as they are: {consumers, to}. */
	get functions() {
		return this.functionsFound ??= foldConsumers(this.data.consumers, this.weight,
			{ fold: 'function', threads: 'each', ways: true, without: new Set() });
	}

	get isTimed() {
		return this.data.samples.some(s => s);
	}

	metricOf(state) {
		const m = this.meta.metrics.findIndex(metric => metric.name === state.metric && metric.shown);

		return m < 0 ? this.first : m;
	}

	/* n and base of the data's nodes in the selected time. */
	valuesIn(state) {
		const key = [state.from, state.to].join('|');

		if (key !== this.values.key)
			this.values = { key, picked: valuesOf(this.data, this.selection(state)) };
		return this.values.picked;
	}

	/* What the data's nodes have of a metric in all that is selected. */
	baseIn(state, metric) {
		return masked(this.valuesIn(state).base[metric], this.ranges(state));
	}

	/* Whether contexts that are no functions have it: reasons to wait, objects. */
	isBelow(metric) {
		return metric === (this.wall < 0 ? -1 : this.meta.sources[this.wall].metric) || this.isOfObjects(metric);
	}

	/* Whether objects have it: its contexts end in classes. */
	isOfObjects(metric) {
		const { consumer, nr } = this.tree, { kind } = this.data.consumers, base = this.data.base[metric];

		this.objects ??= new Map();
		if (!this.objects.has(metric)) {
			let i = 1;
			while (i < nr && !(base[i] && kind[consumer[i]] === 'class'))
				i++;
			this.objects.set(metric, i < nr);
		}
		return this.objects.get(metric);
	}

	/* The source whose times the time view shows for a metric; -1: it has none. */
	timedSourceOf(metric) {
		const exact = this.meta.sources.findIndex((s, i) => s.metric === metric && this.data.samples[i]);

		return exact >= 0 ? exact : this.data.samples.findIndex(s => s);
	}

	/* {tree, nodeOf, consumers} of the data's contexts, folded as the state says. Without lines they are functions anyway. */
	folded(state) {
		const by = state.fold === 'line' && !this.hasLines ? 'function' : state.fold, key = [by, state.merge, state.hide, state.ways, state.idle].join('|');
		let made = this.trees.get(key);

		if (!made) {
			const without = new Set(state.hide.split(',').filter(Boolean));
			const threads = { 1: 'name', each: 'each' }[state.merge] || 'pool';
			const fold = foldConsumers(this.data.consumers, this.weight, { fold: by, threads, ways: state.ways, without });
			made = { ...this.mapped(fold, this.unfolded(state)), consumers: fold.consumers, to: fold.to, key };
			keep(this.trees, key, made, MOST_TREES);
		}
		return made;
	}

	/* Consumers of a fold are numbered as they come: if there are as many as before, they are those. */
	mapped({ to, consumers, merge }, of) {
		if (!merge && consumers.nr === this.data.consumers.nr)
			return { tree: makeTree(of.parent, of.consumer, consumers.nr, of.end), nodeOf: of.nodeOf };
		const made = mapTree(of, to, consumers.nr, merge);
		return of.nodeOf ? { tree: made.tree, nodeOf: of.nodeOf.map(i => made.nodeOf[i]) } : made;
	}

	/* The data's tree, or that with idle threads apart. */
	unfolded(state) {
		if (state.idle || !this.data.idle)
			return { ...this.tree, nodeOf: null };
		if (!this.apart) {
			const made = idleApart(this.tree, this.data.idle);
			this.apart = { ...made, nr: made.parent.length, end: subtreeEnds(made.parent) };
		}
		return this.apart;
	}

	/* Subtrees of the selected threads in the data's tree, in order; null: all. */
	ranges(state) {
		const wanted = state.threads.split(',').filter(Boolean).map(Number);

		if (!wanted.length)
			return null;
		return wanted.filter(i => i > 0 && i < this.tree.nr).sort((a, b) => a - b).map(i => [i, this.tree.end[i]]);
	}

	selection(state) {
		const timed = state.from !== '' && state.to !== '' && this.isTimed;

		return { from: timed ? Number(state.from) : null, to: timed ? Number(state.to) : null,
			ranges: this.ranges(state) };
	}

	/* All that views of one state share; the same object as long as it is kept. Later ones use the arrays of what is not. */
	look(state) {
		const folded = this.folded(state), key = [folded.key, state.threads, state.from, state.to].join('|');
		let selected = this.selections.get(key);

		if (!selected) {
			const gone = this.selections.size < MOST_SELECTIONS ? null : this.selections.values().next().value;
			const sums = sumUp(this.data, folded.tree, folded.nodeOf, this.selection(state), gone && gone.sums.isOwn ? gone.sums : null);
			selected = { ...folded, sums, profile: profile(folded.tree, sums), stanzas: new Map(), looks: new Map() };
			keep(this.selections, key, selected, MOST_SELECTIONS);
		}
		const metric = this.metricOf(state);
		let look = selected.looks.get(metric);
		if (!look) {
			const sides = this.difference ? this.difference.of(selected) : null;
			look = { ...selected, sides, metric, unit: this.meta.metrics[metric].unit, countsCalls: this.meta.n_means === 'calls',
				...this.occurrences(selected, metric) };
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

	/* The function of the stanza: what the address says, else where most is. */
	picked(look, state) {
		const c = state.pick ? consumerOf(look, state.pick) : 0;

		if (c || !this.hasRoles)
			return c || hottestOf(look);
		return hottestMine(look, idleRoot(look)) || hottestOf(look);
	}

	/* The threads' nodes of the data's tree, with what they consumed in all or in the selected time, most first. */
	threads(metric, { base: { [metric]: base } } = this.data) {
		const { end } = this.tree;

		return this.threadNodes.map(node => {
			let sum = 0;
			for (let i = node; i < end[node]; i++)
				sum += base[i];
			return { node, consumer: this.data.consumer[node], sum };
		}).sort((a, b) => b.sum - a.sum || a.node - b.node);
	}

	/* The same with what each did, where that was recorded; then threads that did something but have no samples. */
	lanesOfThreads(metric, values) {
		const threads = this.threads(metric, values), { states, consumers } = this.data;

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

	/*
	 * Of the event wall, each thread with what it did: {node, consumer, sum, spent: [kind] of ns, of the selected time, pool}, those
	 * first that did most; pool: what its name is without numbers, '' of one that is alone in it.
	 */
	spentOfThreads(state) {
		const { end } = this.tree, { spent } = this.roles, base = this.valuesIn(state).base[this.meta.sources[this.wall].metric];
		const { name, pid } = this.data.consumers, count = new Map(), rest = this.spent.length - 1;
		const threads = this.threadNodes.map(node => {
			const consumer = this.data.consumer[node], kinds = new Float64Array(this.spent.length);
			for (let i = node; i < end[node]; i++)
				kinds[spent[i]] += base[i];
			return { node, consumer, spent: kinds, pool: `${pid[consumer]} ${poolName(name[consumer])}` };
		}).filter(t => t.spent.some(ns => ns));

		for (const t of threads)
			count.set(t.pool, (count.get(t.pool) || 0) + 1);
		for (const t of threads) {
			t.pool = count.get(t.pool) > 1 ? t.pool : '';
			t.busy = t.spent.reduce((a, b) => a + b, 0) - t.spent[rest];
		}
		return threads.sort((a, b) => b.spent[1] - a.spent[1] || b.busy - a.busy || a.node - b.node);
	}

	/* [thread][kind] of cells, or null of a kind that it has nothing of. */
	spentCells(threads, columns) {
		const byNode = threads.map(t => t.node).sort((a, b) => a - b);
		const lanes = spentLanes(this.data.samples[this.wall], byNode.map(node => [node, this.tree.end[node]]), this.roles.spent,
			this.spent.length, columns);

		return threads.map(t => lanes[byNode.indexOf(t.node)]);
	}

	/* Of the threads that are selected, or all, those that have most of the metric, or run most: {node, name, ids: of their samples}. */
	threadsInOrder(state, metric, times, most) {
		const wanted = new Set(state.threads.split(',').filter(Boolean).map(Number)), { threadNodes: nodes } = this;
		const isWall = metric === (this.wall < 0 ? -1 : this.meta.sources[this.wall].metric);
		const all = isWall ? this.spentOfThreads(state) : this.threads(metric, this.valuesIn(state)).filter(t => t.sum > 0);
		const of = all.filter(t => !wanted.size || wanted.has(t.node));

		return { nr: of.length, threads: of.slice(0, most).map(t => ({ node: t.node, name: fullName(this.data.consumers, t.consumer),
			ids: times.of[nodes.indexOf(t.node)] })) };
	}

	/* The samples of a source by thread. */
	timesOf(source) {
		const { metric } = this.meta.sources[source], { unit, scale } = this.meta.metrics[metric];

		this.times ??= new Map();
		if (!this.times.has(source))
			this.times.set(source, new ThreadTimes(this.data.samples[source], this.threadNodes.map(node => [node, this.tree.end[node]]),
				this.meta.tick_ns, unit === 'ns' ? scale : 0));
		return this.times.get(source);
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
	for (let c = 1; c < look.consumers.nr; c++)
		if (look.consumers.name[c] === id.split('\n')[0] && idOf(look.consumers, c) === id)
			return c;
	return 0;
}

function hottestOf(look) {
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

/* The context that waits of idle threads are below, where they are apart; 0: they are not. */
export function idleRoot({ tree, consumers }) {
	for (let i = 1; i < tree.nr; i = tree.end[i])
		if (consumers.name[tree.consumer[i]] === '[idle threads]' && consumers.kind[tree.consumer[i]] === 'group')
			return i;
	return 0;
}

/* The flat profile's rows: consumers that have anything, by what key says, descending. */
export function flatRows(look, key, matches) {
	const { base, cum } = look.profile, n = look.nOf, m = look.metric, rows = [];
	if (look.sides)
		return flatChanges(look, key, matches);
	const by = { self: c => base[m][c], total: c => cum[m][c], n: c => n[c], again: c => look.profile.cum2[m][c] }[key];

	/* what was called takes time, if too little to be counted; else what has nothing is no row */
	const calls = look.countsCalls || !look.sums.cum[m][0];
	for (let c = 1; c < look.consumers.nr; c++)
		if ((cum[m][c] > 0 || base[m][c] > 0 || (calls && n[c] > 0)) && (!matches || matches(c)))
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
