// SPDX-License-Identifier: GPL-2.0-or-later
// time.mjs - when it was: the heat map over everything, where a range is brushed, and a lane for each thread.
import { amount } from './names.mjs';
import { colours, prepare } from './boxes.mjs';
import { heatCells } from './layout.mjs';

const STEPS = 8, AXIS = 14;

export class HeatMap {
	/* onBrush(from, to) in ticks; null: all. */
	constructor(canvas, onBrush) {
		this.canvas = canvas;
		this.onBrush = onBrush;
		canvas.tabIndex = 0;
		canvas.addEventListener('pointerdown', e => this.begin(e));
		canvas.addEventListener('pointermove', e => this.move(e));
		canvas.addEventListener('pointerup', e => this.end(e));
		canvas.addEventListener('keydown', e => e.key === 'Escape' && onBrush(null, null));
	}

	/* data.samples[source] in ranges of nodes, and what is brushed. */
	show(data, source, ranges, from, to) {
		const of = [source, ranges, this.columns()].join('|');

		Object.assign(this, { data, from, to, dragged: null });
		this.ticks = data.meta.ticks;
		if (of !== this.cellsOf)
			this.cells = heatCells(data.samples[source], ranges, this.columns(), STEPS);
		this.cellsOf = of;
		this.paint();
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
		this.paintBrush(context, palette, width, height - AXIS);
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

	paintBrush(context, palette, width, height) {
		const [a, b] = this.dragged || [this.from, this.to];

		if (a === null || a === undefined || a === '')
			return;
		const left = Math.min(a, b) / this.ticks * width, right = Math.max(a, b) / this.ticks * width;
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

		return Math.round(Math.min(Math.max(share, 0), 1) * this.ticks);
	}

	begin(event) {
		this.canvas.setPointerCapture(event.pointerId);
		this.dragged = [this.tickAt(event), this.tickAt(event)];
	}

	move(event) {
		if (!this.dragged)
			return;
		this.dragged[1] = this.tickAt(event);
		this.paint();
	}

	/* A click takes the column that it hits: nothing can be brushed narrower by hand. */
	end(event) {
		if (!this.dragged)
			return;
		let [a, b] = [Math.min(...this.dragged), Math.max(...this.dragged)];
		this.dragged = null;
		if (b - a < this.ticks / this.width * 3) {
			if (this.from !== '' && this.from !== null) {
				this.onBrush(null, null);
				return;
			}
			const columns = this.columns(), column = Math.floor(this.tickAt(event) / this.ticks * columns);
			a = Math.floor(column * this.ticks / columns);
			b = Math.ceil((column + 1) * this.ticks / columns);
		}
		this.onBrush(a, b);
	}
}

function niceStep(range, parts) {
	const rough = range / Math.max(parts, 1), power = 10 ** Math.floor(Math.log10(rough || 1));

	return [1, 2, 5, 10].map(x => x * power).find(x => x >= rough) || power;
}

export function paintLane(canvas, cells, most) {
	const context = canvas.getContext('2d'), palette = colours(canvas);
	const width = canvas.clientWidth, height = canvas.clientHeight, w = width / cells.length;

	prepare(canvas, context, width, height);
	context.fillStyle = palette.heat;
	cells.forEach((cell, i) => {
		const h = most ? cell / most * height : 0;
		context.fillRect(i * w, height - h, Math.max(w - 0.5, 0.5), h);
	});
}
