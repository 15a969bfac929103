// SPDX-License-Identifier: GPL-2.0-or-later
// time.mjs - when it was: the heat map over everything, where a range is brushed, and a lane for each thread.
import { amount } from './names.mjs';
import { colours, prepare } from './boxes.mjs';
import { STATES } from './data.mjs';
import { heatCells } from './layout.mjs';

const STEPS = 8, AXIS = 14;

/*
 * A canvas that is as wide as the whole time, and where a part of it is selected. owner: {ticks, columns(), from, to:
 * ticks or '', paint()}; onBrush(from, to) in ticks, null: all.
 */
export class Brush {
	constructor(canvas, owner, onBrush) {
		Object.assign(this, { canvas, owner, onBrush, dragged: null });
		canvas.addEventListener('pointerdown', e => this.begin(e));
		canvas.addEventListener('pointermove', e => this.move(e));
		canvas.addEventListener('pointerup', e => this.end(e));
	}

	paint(context, palette, width, height) {
		const { ticks, from, to } = this.owner, [a, b] = this.dragged || [from, to];

		if (a === '')
			return;
		const left = Math.min(a, b) / ticks * width, right = Math.max(a, b) / ticks * width;
		context.fillStyle = palette.ground;
		context.globalAlpha = 0.65;
		context.fillRect(0, 0, left, height);
		context.fillRect(right, 0, width - right, height);
		context.globalAlpha = 1;
		context.strokeStyle = palette.picked;
		context.lineWidth = 2;
		context.strokeRect(left, 1, Math.max(right - left, 1), height - 2);
	}

	tickAt(event) {
		const place = this.canvas.getBoundingClientRect();
		const share = (event.clientX - place.left) / place.width;

		return Math.round(Math.min(Math.max(share, 0), 1) * this.owner.ticks);
	}

	begin(event) {
		this.canvas.setPointerCapture(event.pointerId);
		this.dragged = [this.tickAt(event), this.tickAt(event)];
	}

	move(event) {
		if (!this.dragged)
			return;
		this.dragged[1] = this.tickAt(event);
		this.owner.paint();
	}

	/* A click takes the column that it hits: nothing can be brushed narrower by hand. */
	end(event) {
		if (!this.dragged)
			return;
		const { ticks, from } = this.owner, columns = this.owner.columns();
		let [a, b] = [Math.min(...this.dragged), Math.max(...this.dragged)];
		this.dragged = null;
		if ((b - a) * this.canvas.clientWidth < 3 * ticks) {
			if (from !== '') {
				this.onBrush(null, null);
				return;
			}
			const column = Math.min(Math.floor(this.tickAt(event) / ticks * columns), columns - 1);
			a = Math.floor(column * ticks / columns);
			b = Math.ceil((column + 1) * ticks / columns);
		}
		this.onBrush(a, b);
	}
}

export class HeatMap {
	constructor(canvas, onBrush) {
		this.canvas = canvas;
		this.brush = new Brush(canvas, this, onBrush);
		canvas.tabIndex = 0;
		canvas.addEventListener('keydown', e => e.key === 'Escape' && onBrush(null, null));
	}

	/* data.samples[source] in ranges of nodes, and what is brushed. */
	show(data, source, ranges, from, to) {
		const of = [source, ranges, this.columns()].join('|');

		Object.assign(this, { data, from, to });
		this.ticks = data.meta.ticks;
		if (of !== this.cellsOf)
			this.cells = heatCells(data.samples[source], ranges, this.columns(), STEPS);
		this.cellsOf = of;
		this.paint();
	}

	/* The data are others. */
	forget() {
		this.cellsOf = null;
	}

	measure() {
		this.width = this.canvas.clientWidth;
		this.height = this.canvas.clientHeight;
	}

	columns() {
		return Math.max(20, Math.floor(this.width / 6));
	}

	paint() {
		const { width, height } = this, context = this.canvas.getContext('2d'), palette = colours(this.canvas);

		prepare(this.canvas, context, width, height);
		this.paintCells(context, palette, width, height - AXIS);
		this.paintAxis(context, palette, width, height);
		this.brush.paint(context, palette, width, height - AXIS);
	}

	paintCells(context, palette, width, height) {
		const { cells } = this, columns = this.columns();
		const most = cells.reduce((a, b) => Math.max(a, b), 0), w = width / columns, h = height / STEPS;

		context.fillStyle = palette.heat;
		for (let i = 0; i < cells.length; i++) {
			if (!cells[i])
				continue;
			context.globalAlpha = 0.15 + 0.85 * cells[i] / most;
			context.fillRect(Math.floor(i / STEPS) * w, (STEPS - 1 - i % STEPS) * h, w - 0.5, h - 0.5);
		}
		context.globalAlpha = 1;
	}

	paintAxis(context, palette, width, height) {
		const seconds = this.ticks * this.data.meta.tick_ns / 1e9, step = niceStep(seconds, width / 90);

		context.fillStyle = palette.text;
		context.font = '10px system-ui, sans-serif';
		for (let s = 0; s < seconds; s += step)
			context.fillText(amount(Math.round(s * 1e9), 'ns'), s / seconds * width + 2, height - 3);
	}
}

export function niceStep(range, parts) {
	const rough = range / Math.max(parts, 1), power = 10 ** Math.floor(Math.log10(rough || 1));

	return [1, 2, 5, 10].map(x => x * power).find(x => x >= rough) || power;
}

/* A lane of the table of threads: a line of the time, with what paintCells(context, palette, width, height) shows. */
export class Lane {
	constructor(canvas, { ticks, from, to, nrColumns }, paintCells, onBrush) {
		Object.assign(this, { canvas, ticks, from, to, nrColumns, paintCells });
		this.brush = new Brush(canvas, this, onBrush);
	}

	columns() {
		return this.nrColumns;
	}

	paint() {
		const context = this.canvas.getContext('2d'), palette = colours(this.canvas);
		const width = this.canvas.clientWidth, height = this.canvas.clientHeight;

		prepare(this.canvas, context, width, height);
		this.paintCells(context, palette, width, height);
		this.brush.paint(context, palette, width, height);
	}
}

/* How much of something there was: as high as that, of most. */
export function amountCells(cells, most) {
	return (context, palette, width, height) => {
		const w = width / cells.length;

		context.fillStyle = palette.heat;
		cells.forEach((cell, i) => {
			const h = most ? cell / most * height : 0;
			context.fillRect(i * w, height - h, Math.max(w - 0.5, 0.5), h);
		});
	};
}

/* What a thread did, one state above the other; a thread of which that is not known has none. */
export function stateCells({ cells, whole }, { shares } = { shares: [] }) {
	return (context, palette, width, height) => {
		const w = width / cells;

		for (let i = 0; i < cells; i++) {
			let y = height;
			STATES.forEach((state, k) => {
				const h = (shares[k * cells + i] || 0) / whole * height;
				context.fillStyle = palette[state];
				context.fillRect(i * w, y - h, w + 0.5, h);
				y -= h;
			});
		}
	};
}

/*
 * What threads did by the event wall: of each pixel the kinds of time, one above the other; cells: [thread][kind]. Where they add up
 * to more than the pixel's time, as what a thread runs may lie in what it waits for a CPU, each has its share.
 */
export function spentCells(cells, kinds, columnNs) {
	return (context, palette, width, height) => {
		const nr = kinds.length, ofKind = (k, i) => cells.reduce((sum, c) => sum + (c[k] ? c[k][i] : 0), 0);
		const columns = cells.reduce((most, c) => Math.max(most, ...c.map(x => (x ? x.length : 0))), 0), w = columns ? width / columns : 0;

		for (let i = 0; i < columns; i++) {
			const parts = kinds.map((_, k) => (k ? ofKind(k, i) : 0)), all = parts.reduce((a, b) => a + b, 0);
			const high = height / Math.max(columnNs * cells.length, all);
			let y = height;
			for (let k = 1; k < nr; k++) {
				const h = parts[k] * high;
				if (!h)
					continue;
				context.fillStyle = palette[kinds[k]];
				context.fillRect(i * w, y - h, w + 0.5, h);
				y -= h;
			}
		}
	};
}

/* Spans {at_ns, ns} of the whole time, each at least a pixel wide. */
export function marks(list, wholeNs, colour) {
	return (context, palette, width, height) => {
		context.fillStyle = palette[colour];
		for (const { at_ns: at, ns } of list)
			context.fillRect(at / wholeNs * width, 1, Math.max(ns / wholeNs * width, 1), height - 2);
	};
}
