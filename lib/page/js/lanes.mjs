// SPDX-License-Identifier: GPL-2.0-or-later
// lanes.mjs - the threads, each with a line of the time: what it did at every moment where that is known, else how much.
import { STATES } from './data.mjs';
import { amount, fullName, spentColour, spentWord } from './names.mjs';
import { fontOf, SIZE, widthsOf } from './text.mjs';
import { element } from './table.mjs';
import { amountCells, Lane, marks, spentCells, stateCells } from './time.mjs';

const MOST_LANES = 200;
const NAME_WIDE = 200, LANE_HIGH = 22, LANE_PAD = 4;	// in a picture, in pixels

export class Lanes {
	/* page: {model, look, state, go, brush}. */
	constructor(head, body, note, page) {
		Object.assign(this, { head, body, note, page, open: new Set(), drawn: [] });
	}

	show() {
		const { model } = this.page, rows = model.wall >= 0 ? this.spentRows() : model.data.states ? this.stateRows() : this.amountRows();

		this.note.hidden = model.wall < 0 && !model.data.states;
		this.head.replaceChildren(...rows.heads.map(({ text, colour, title }) => element('th', { scope: 'col', title },
			colour ? swatchOf(colour) : null, text)));
		const lanes = [...this.pauseRows(rows.heads.length), ...rows.lanes];
		this.body.replaceChildren(...lanes.map(l => element('tr', {}, element('th', { scope: 'row' }, l.name),
			...l.cells.map(text => element('td', { class: 'number' }, text)), element('td', {}, element('canvas', { class: 'lane' })))));
		this.paint(lanes, rows.cellsOf);
	}

	/* What threads did, as the legend of the page shows it: the numbers are in the rows. */
	legend() {
		const { model, state } = this.page, threads = model.spentOfThreads(state);

		return model.spent.map((name, k) => ({ k, colour: spentColour(name), text: spentWord(name), value: null }))
			.filter(({ k }) => k && threads.some(t => t.spent[k]));
	}

	/* All are as wide as the first. */
	paint(lanes, cellsOf) {
		const { model, state } = this.page, canvases = [...this.body.querySelectorAll('canvas')];

		this.drawn = [];
		if (!canvases.length)
			return;
		const width = canvases[0].clientWidth, paints = cellsOf(Math.max(20, width));
		const of = { ticks: model.meta.ticks, from: state.from, to: state.to, nrColumns: Math.max(20, Math.floor(width / 4)) };
		this.drawn = lanes.map((lane, i) => ({ name: this.body.rows[i].cells[0].textContent.replace(/^[▾▸]/, ''), paint: lane.paint || paints(lane), width: canvases[i].clientWidth }));
		canvases.forEach((canvas, i) => new Lane(canvas, of, this.drawn[i].paint, (a, b) => this.page.brush(a, b)).paint());
	}

	/* Of a picture (picture.mjs): the names and what is drawn beside them. */
	get parts() {
		return this.drawn.length ? [[this, 0, 0]] : [];
	}

	get width() {
		return NAME_WIDE + this.drawn[0].width;
	}

	get height() {
		return this.drawn.length * LANE_HIGH;
	}

	draw(context, palette) {
		for (const { name, paint, width } of this.drawn) {
			context.font = fontOf(SIZE);
			context.fillStyle = palette.text;
			context.fillText(widthsOf(SIZE).cut(name, NAME_WIDE - 2 * LANE_PAD), LANE_PAD, LANE_HIGH / 2);
			context.save();
			context.translate(NAME_WIDE, 0);
			paint(context, palette, width, LANE_HIGH - LANE_PAD);
			context.restore();
			context.translate(0, LANE_HIGH);
		}
	}

	link(t, text) {
		return element('a', { href: '#', onclick: e => {
			e.preventDefault();
			this.page.go({ threads: t.nodes.join(','), view: 'flame' });
		} }, text);
	}

	/* What each did by the event wall. Threads of a pool are one lane until it is opened. */
	spentRows() {
		const { model, state } = this.page, threads = model.spentOfThreads(state), name = t => fullName(model.data.consumers, t.consumer);
		const kinds = model.spent.map((_, k) => k).filter(k => k && threads.some(t => t.spent[k]));
		const lanes = lanesOf(threads, state.merge === 'each').flatMap(group => {
			const isOpen = this.open.has(group.pool), row = of => ({ of, cells: kinds.map(k => ofKind(of, k)) });
			if (group.threads.length === 1)
				return [{ ...row(group.threads), name: this.link({ nodes: [group.threads[0].node] }, name(group.threads[0])) }];
			const nodes = group.threads.map(t => t.node).sort((a, b) => a - b);
			const twist = element('button', { class: 'twist', 'aria-expanded': String(isOpen), onclick: () => this.toggle(group.pool) },
				isOpen ? '▾' : '▸');
			const all = { ...row(group.threads), name: [twist, this.link({ nodes }, `${group.pool.split(' ').slice(1).join(' ')}: ${nodes.length} threads`)] };
			return [all, ...(isOpen ? group.threads.map(t => ({ ...row([t]), name: [element('span', { class: 'twist' }), this.link({ nodes: [t.node] }, name(t))] })) : [])];
		}).slice(0, MOST_LANES);

		return { lanes, heads: [{ text: 'thread' }, ...kinds.map(k => ({ text: model.spent[k], colour: spentColour(model.spent[k]), title: spentWord(model.spent[k]) })),
			{ text: 'when' }], cellsOf: width => {
			const shown = lanes.flatMap(l => l.of), cells = model.spentCells(shown, width), of = new Map(shown.map((t, i) => [t, cells[i]]));
			return lane => spentCells(lane.of.map(t => of.get(t)), model.spent.map(spentColour), model.meta.ticks * model.meta.tick_ns / width);
		} };
	}

	toggle(pool) {
		if (!this.open.delete(pool))
			this.open.add(pool);
		this.show();
	}

	/* What dispatches say; those without samples are there, too. */
	stateRows() {
		const { model, look, state } = this.page, { states } = model.data;
		const threads = model.lanesOfThreads(look.metric, model.valuesIn(state)).slice(0, MOST_LANES);

		return { heads: [{ text: 'thread' }, { text: model.meta.metrics[look.metric].name }, ...STATES.map(s => ({ text: s, colour: s })), { text: 'when' }],
			lanes: threads.map(t => ({ t, name: this.nameOf(t), cells: [t.node ? amount(t.sum, look.unit) : '',
				...STATES.map((_, k) => (t.states ? amount(t.states.ns[k], 'ns') : ''))] })),
			cellsOf: () => lane => stateCells(states, lane.t.states) };
	}

	amountRows() {
		const { model, look, state } = this.page, source = model.timedSourceOf(look.metric);
		const threads = model.lanesOfThreads(look.metric, model.valuesIn(state)).filter(t => t.sum).slice(0, MOST_LANES);

		return { heads: [{ text: 'thread' }, { text: model.meta.metrics[look.metric].name }, { text: 'when' }],
			lanes: threads.map((t, i) => ({ i, name: this.nameOf(t), cells: [amount(t.sum, look.unit)] })),
			cellsOf: width => {
				const all = source < 0 ? [] : model.lanes(source, threads, Math.floor(width / 4));
				const most = all.reduce((x, cells) => cells.reduce((a, b) => Math.max(a, b), x), 0);
				return lane => amountCells(all[lane.i] || [], most);
			} };
	}

	nameOf(t) {
		const { model } = this.page;

		return t.node ? this.link({ nodes: [t.node] }, fullName(model.data.consumers, t.consumer)) : `${t.states.name} [tid ${t.states.tid}]`;
	}

	/* When the JVM of a process stopped its threads to collect garbage. */
	pauseRows(nrColumns) {
		const { meta } = this.page.model, of = new Map();

		for (const p of meta.pauses || [])
			of.set(p.pid, [...(of.get(p.pid) || []), p]);
		return [...of].map(([pid, list]) => ({ name: `GC [pid ${pid}]: ${list.length} pause${list.length === 1 ? '' : 's'}, ` +
			amount(list.reduce((sum, p) => sum + p.ns, 0), 'ns'), cells: new Array(nrColumns - 2).fill(''),
		paint: marks(list, meta.ticks * meta.tick_ns, 'gc') }));
	}
}

function ofKind(threads, kind) {
	const ns = threads.reduce((sum, t) => sum + t.spent[kind], 0);

	return ns ? amount(ns, 'ns') : '';
}

/* Groups {pool, threads} in the order of the first of each. */
function lanesOf(threads, each) {
	const pools = new Map(), out = [];

	for (const t of threads) {
		const known = !each && t.pool && pools.get(t.pool);
		if (known) {
			known.threads.push(t);
			continue;
		}
		const group = { pool: t.pool, threads: [t] };
		out.push(group);
		pools.set(t.pool, group);
	}
	return out;
}

export function swatchOf(colour) {
	return element('i', { class: 'swatch', style: `background: var(--${colour})` });
}
