// SPDX-License-Identifier: GPL-2.0-or-later
// answers.mjs - the first answers of a recording, as "arcprof report --summary" gives them, of what is selected.
import { amount, fullName, isFunction, isJava, isPlace, percent, shortNames } from './names.mjs';
import { allocations, hottest, hottestStacks, IS_MINE, waits } from './roles.mjs';
import { idOf } from './model.mjs';
import { element } from './table.mjs';

const OF_LOCKS = ['wall', 'lock', 'waits', 'blame'];
const NR_MINE = 8, NR_ALL = 5, NR_WAITS = 6, NR_OBJECTS = 5, NR_STACKS = 3;
const FRAMES = 12, FRAMES_ROOT = 3;	// of a stack; if there are more, so many of its root

function metricNamed(model, name) {
	const m = model.shown.findIndex(k => model.meta.metrics[k].name === name);

	return m < 0 ? -1 : model.shown[m];
}

/* The metric whose functions are shown: the one that was chosen, unless it is of waits or of objects. */
export function timeMetric(model, look) {
	const isTime = m => !OF_LOCKS.includes(model.meta.metrics[m].name) && !model.isOfObjects(m);

	return isTime(look.metric) ? look.metric : isTime(model.first) ? model.first : -1;
}

/* {time: {metric, total, mine, all}, waits: {metric, rows, whole, idle, idleThreads}, objects: {metric, total, rows}}, each null where there is none. */
export function answersOf(model, look, state) {
	const { roles, tree, functions: { to } } = model, out = { time: null, waits: null, objects: null };
	const time = timeMetric(model, look), wall = metricNamed(model, 'wall');
	const sum = base => base.reduce((a, b) => a + b, 0);

	if (time >= 0) {
		const base = model.baseIn(state, time), total = sum(base);
		out.time = total ? { metric: time, total, ...hottest(roles, tree, to, base, total, Math.max(NR_MINE, NR_ALL)) } : null;
	}
	if (wall >= 0) {
		const base = model.baseIn(state, wall), found = waits(roles, tree, to, base, NR_WAITS);
		if (found.rows.length || found.idle)
			out.waits = { metric: wall, ...found, idleThreads: idleThreads(model, base) };
	}
	const objects = model.shown.find(m => !OF_LOCKS.includes(model.meta.metrics[m].name) && model.isOfObjects(m));
	if (objects !== undefined) {
		const base = model.baseIn(state, objects), total = sum(base);
		out.objects = total ? { metric: objects, total, rows: allocations(roles, tree, to, base, total, NR_OBJECTS) } : null;
	}
	return out;
}

export function stacksOf(model, state, metric) {
	return hottestStacks(model.tree, model.data.consumers, model.functions, model.baseIn(state, metric), isPlace, NR_STACKS);
}

/* They take longest: of the whole recording the report has said them; null: it has not. */
function knownStacks(model, state, metric) {
	const { summary } = model.more, { name } = model.meta.metrics[metric], { consumers } = model.functions;
	const stacks = summary && state.from === '' && !state.threads ? summary.stacks : null;

	if (!stacks || !stacks.length || stacks[0].metric !== name)
		return null;
	const of = new Map(consumers.name.map((text, c) => [text, c]).reverse());
	return stacks.map(s => ({ value: s.self, path: s.frames.map(frame => of.get(frame) || 0), names: s.frames }));
}

function idleThreads({ roles, tree, threadNodes }, base) {
	return threadNodes.filter(node => {
		for (let i = node; i < tree.end[node]; i++)
			if (roles.aside[i] & 1 && base[i])
				return true;
		return false;
	}).length;
}

/* ---- what is shown of that ---- */

class Sections {
	constructor(model, look, state, go) {
		Object.assign(this, { model, look, state, go, consumers: model.functions.consumers });
	}

	name(c) {
		return c ? fullName(this.consumers, c) : this.model.meta.n_means === 'calls' ? '[outside of the calls]' : '[no function]';
	}

	unit(metric) {
		return this.model.meta.metrics[metric].unit;
	}

	metricName(metric) {
		return this.model.meta.metrics[metric].name;
	}

	/* A function's name, which leads to it in the graph of that metric. */
	link(c, metric, text = this.name(c)) {
		return c ? element('a', { href: '#', title: this.name(c), onclick: e => {
			e.preventDefault();
			this.go({ pick: idOf(this.consumers, c), view: 'flame', metric: this.metricName(metric) });
		} }, text) : text;
	}

	table(title, head, rows) {
		return element('section', {}, element('h2', {}, title), element('table', { class: 'rows answers' + (head.length > 3 ? ' four' : '') },
			element('thead', {}, element('tr', {}, head.map((text, k) => element('th', { scope: 'col', class: k < 2 ? 'number' : null }, text)))),
			element('tbody', {}, rows.map(cells => element('tr', {}, cells.map((cell, k) =>
				element('td', { class: k < 2 ? 'number' : null }, cell)))))));
	}

	row(value, total, metric, ...cells) {
		return [percent(value, total) + ' %', amount(value, this.unit(metric)), ...cells];
	}

	functions({ metric, total, mine, all }) {
		const name = this.metricName(metric), out = [];
		const rows = (list, key) => list.map(r => this.row(r[key], total, metric, this.link(r.where, metric)));

		if (mine.length)
			out.push(this.table(`Hottest functions of the program, with what they call of libraries: ${name}`, ['%', name, 'function'],
				rows(mine.slice(0, NR_MINE), 'mine')));
		if (all.length && !(mine.length && this.areMine(all.slice(0, NR_ALL))))
			out.push(this.table(`Hottest functions of all code: ${name}`, ['%', name, 'function'],
				rows(all.slice(0, mine.length ? NR_ALL : NR_MINE), 'self')));
		return out;
	}

	areMine(rows) {
		return rows.every(r => this.consumers.role[r.where] & IS_MINE);
	}

	waits({ metric, rows, whole, idle, idleThreads: nr }) {
		const section = this.table('Waits inside work', ['%', 'waited', 'for', 'in'], rows.map(r => this.row(r.self, whole, metric,
			this.name(r.what), this.link(r.where, metric))));

		if (idle)
			section.append(element('p', { class: 'note' }, `${amount(idle, this.unit(metric))} by ${nr} thread${nr === 1 ? '' : 's'} ` +
				'with nothing to do: pools, selectors, joins, the JVM’s'));
		return section;
	}

	objects({ metric, total, rows }) {
		return this.table(`What allocates most: ${this.metricName(metric)}`, ['%', 'bytes', 'by', 'class'], rows.map(r =>
			this.row(r.self, total, metric, this.link(r.where, metric), this.name(r.what))));
	}

	/* From the innermost function outwards; of many the middle is left out. */
	stack({ value, path, names }, metric, total) {
		const nr = path.length, all = path.map((c, k) => (c ? this.link(c, metric, this.short(c)) : names[k]));
		const shown = nr > FRAMES ? [...all.slice(0, FRAMES - FRAMES_ROOT), `[${nr - FRAMES} more]`, ...all.slice(-FRAMES_ROOT)] : all;
		const words = shown.flatMap((word, k) => [k ? ' ‹ ' : '', word]);

		return element('li', {}, element('b', {}, percent(value, total) + ' %'), ` ${amount(value, this.unit(metric))} `,
			words.length ? words : '[no stack]');
	}

	short(c) {
		const names = shortNames(this.consumers.name[c], this.consumers.kind[c]);

		return !isFunction(this.consumers.kind[c]) ? this.name(c) : isJava(this.consumers.kind[c]) ? names[Math.max(names.length - 2, 0)] :
			names[Math.min(1, names.length - 1)];
	}
}

/* Rows of the report as they are: of the whole recording. */
function locks(rows) {
	return element('section', {}, element('h2', {}, 'Locks that threads waited for longest'), element('table', { class: 'rows answers four' },
		element('thead', {}, element('tr', {}, ['waits', 'waited', 'lock', 'mostly held by'].map((text, k) =>
			element('th', { scope: 'col', class: k < 2 ? 'number' : null }, text)))),
		element('tbody', {}, rows.map(r => element('tr', {}, element('td', { class: 'number' }, r.n.toLocaleString('en')),
			element('td', { class: 'number' }, amount(r.wait_ns, 'ns')), element('td', {}, r.name), element('td', {}, r.owner || ''))))));
}

/* What stands out, in the words of the report. */
export function noteLine({ text, command }) {
	return element('li', {}, text, command ? element('span', { class: 'where' }, ': ', element('code', {}, 'arcprof ' + command)) : null);
}

/* The sections, and what is to be done later to fill one of them. */
export function answerSections(model, look, state, go) {
	const s = new Sections(model, look, state, go), found = answersOf(model, look, state), { summary } = model.more;
	const out = found.time ? s.functions(found.time) : [];
	let later = null;

	if (found.time) {
		const list = element('ul', { class: 'paths' });
		out.push(element('section', {}, element('h2', {}, 'Hottest stacks, all threads, the innermost function first'), list));
		const { metric, total } = found.time, known = knownStacks(model, state, metric);
		const fill = stacks => list.replaceChildren(...stacks.map(x => s.stack(x, metric, total)));
		if (known)
			fill(known);
		else
			later = () => fill(stacksOf(model, state, metric));
	}
	if (found.waits)
		out.push(s.waits(found.waits));
	if (summary && summary.locks && summary.locks.length && state.from === '' && state.threads === '')
		out.push(locks(summary.locks));
	if (found.objects)
		out.push(s.objects(found.objects));
	return { sections: out, later };
}
