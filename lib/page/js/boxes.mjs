// SPDX-License-Identifier: GPL-2.0-or-later
// boxes.mjs - a canvas of boxes in rows: flame graphs of every kind. What a box is, its owner knows.
import { STATES } from './data.mjs';
import { CHANGES } from './difference.mjs';
import { HUES } from './names.mjs';
import { fontOf, SIZE, widthsOf } from './text.mjs';

export const MOST_HIGH = 16000;	// of a canvas
const MOST_SPARE = 2000;	// pixels: what a canvas has that is higher is given back
const ROW = 18, MIN_TEXT = 26, PAD = 4;
const NARROW = 3;	// pixels: wider boxes have a gap behind them
const LEAST = 0.6;	// of a pixel: narrower boxes are drawn so wide
const SEAM = 0.05;	// of a pixel: what rounding makes

/*
 * owner: {label(box): names from long to short, family(box), isPicked(box), isFound(box) or null, title(box),
 * onClick(box), onZoom(box)}. boxes: {x, width, row}, in any order.
 */
export class BoxCanvas {
	constructor(canvas, owner) {
		this.canvas = canvas;
		this.owner = owner;
		this.context = canvas.getContext('2d');
		this.rows = [];
		this.cursor = null;
		this.isFramed = false;
		canvas.tabIndex = 0;
		canvas.addEventListener('click', e => this.act(e, owner.onClick));
		canvas.addEventListener('dblclick', e => this.act(e, owner.onZoom));
		canvas.addEventListener('mousemove', e => this.hover(e));
		canvas.addEventListener('mouseleave', () => owner.onHover(null));
		canvas.addEventListener('keydown', e => this.key(e));
	}

	/* rowsUp: the first row is at the bottom. */
	show(boxes, nrRows, width, { rowsUp = false } = {}) {
		this.width = width;
		this.boxes = boxes;
		this.nrRows = nrRows;
		this.rowsUp = rowsUp;
		this.rows = inRows(boxes, nrRows);
		this.cursor = null;
		this.isFramed = false;
		this.paint();
	}

	y(row) {
		return (this.rowsUp ? this.nrRows - 1 - row : row) * ROW;
	}

	paint() {
		const { height } = this;

		this.canvas.style.height = height + 'px';
		prepare(this.canvas, this.context, this.width, Math.min(height, MOST_HIGH), true);
		this.draw(this.context, colours(this.canvas));
	}

	/* What is between two places stands out. */
	veil(a, b) {
		const { context, width, height } = this, left = Math.min(a, b), right = Math.max(a, b);

		context.fillStyle = colours(this.canvas).ground;
		context.globalAlpha = 0.65;
		context.fillRect(0, 0, left, height);
		context.fillRect(right, 0, width - right, height);
		context.globalAlpha = 1;
	}

	/* Also into a picture that is saved. */
	draw(context, palette) {
		const texts = [];

		for (const row of this.rows)
			this.drawRow(context, palette, row, texts);
		context.font = fontOf(SIZE);
		context.textBaseline = 'middle';
		context.fillStyle = palette.boxText;
		for (const { box, text } of texts)
			context.fillText(text, box.x + PAD, this.y(box.row) + ROW / 2);
		if (this.cursor && this.isFramed)
			frame(context, palette.text, this.cursor, this.y(this.cursor.row));
	}

	/* Narrow neighbours of one colour are one rectangle. Names go into texts: all have one colour. */
	drawRow(context, palette, row, texts) {
		const { owner } = this, y = row.length ? this.y(row[0].row) : 0;
		let colour = '', begin = 0, end = 0;	// what is not drawn yet
		const fill = () => {
			context.fillStyle = colour;
			if (begin < end)
				context.fillRect(begin, y, end - begin, ROW - 1);
			begin = end;
		};

		for (const box of row) {
			const own = owner.isFound(box) ? palette.found : palette[owner.family(box)], isWide = box.width > NARROW;
			if (isWide || own !== colour || box.x - end > SEAM) {
				fill();
				colour = own;
				begin = box.x;
			}
			end = box.x + (isWide ? box.width - 1 : Math.max(box.width, LEAST));
			if (box.width > 2 && owner.isPicked(box)) {
				fill();
				frame(context, palette.picked, box, y);
			}
			const text = box.width < MIN_TEXT ? '' : this.fitting(box);
			if (text)
				texts.push({ box, text });
		}
		fill();
	}

	at(event) {
		const place = this.canvas.getBoundingClientRect();
		const line = Math.floor((event.clientY - place.top) / ROW);
		const row = this.rows[this.rowsUp ? this.nrRows - 1 - line : line] || [];
		const x = event.clientX - place.left;
		let low = 0, high = row.length;

		while (low < high) {
			const middle = low + high >> 1;
			if (row[middle].x <= x)
				low = middle + 1;
			else
				high = middle;
		}
		const box = row[low - 1];
		return box && x < box.x + Math.max(box.width, LEAST) ? box : null;
	}

	act(event, then) {
		const box = this.at(event);

		if (box)
			then.call(this.owner, box);
	}

	/* Arrows go on from where the mouse is; what they have framed is framed no more. */
	hover(event) {
		const box = this.at(event), framed = this.isFramed;

		this.canvas.style.cursor = box ? 'pointer' : 'default';
		this.owner.onHover(box);
		this.cursor = box || this.cursor;
		this.isFramed = false;
		if (framed)
			this.paint();
	}

	/* Arrows walk, Enter zooms, blank picks. */
	key(event) {
		const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
		const step = steps[event.key], box = this.cursor;

		if (step) {
			this.moveCursor(this.rowsUp ? -step[0] : step[0], step[1]);
		} else if (box && event.key === 'Enter') {
			this.owner.onZoom(box);
		} else if (box && event.key === ' ') {
			this.owner.onClick(box);
		} else {
			return;
		}
		event.preventDefault();
	}

	moveCursor(down, right) {
		const box = this.cursor;
		let next;

		if (!box) {
			next = this.rows[0] && this.rows[0][0];
		} else if (right) {
			const row = this.rows[box.row];
			next = row[row.indexOf(box) + right];
		} else {
			const middle = box.x + (down > 0 ? 0.5 : box.width / 2);
			next = (this.rows[box.row + down] || []).find(b => b.x <= middle && middle < b.x + Math.max(b.width, LEAST)) ||
				(down > 0 ? (this.rows[box.row + 1] || []).find(b => b.x >= box.x && b.x < box.x + box.width) : null);
		}
		this.frame(next);
	}

	/* No box: what was framed stays. */
	frame(box) {
		if (!box)
			return;
		this.cursor = box;
		this.isFramed = true;
		this.paint();
		this.owner.onHover(box);
	}

	get height() {
		return this.nrRows * ROW + 1;
	}

	/* A part of a picture (picture.mjs): names as text, so that it can be searched. */
	svg(palette, left, top) {
		return this.boxes.map(box => {
			const x = left + box.x, y = top + this.y(box.row), text = box.width >= MIN_TEXT ? this.fitting(box) : '';

			return `<g><title>${escapeMarkup(this.owner.title(box))}</title><rect x="${x.toFixed(2)}" y="${y}" ` +
				`width="${Math.max(box.width - 0.5, 0.5).toFixed(2)}" height="${ROW - 1}" fill="${palette[this.owner.family(box)]}"/>` +
				(text ? `<text x="${(x + PAD).toFixed(2)}" y="${y + 13}" fill="${palette.boxText}">${escapeMarkup(text)}</text>` : '') + '</g>';
		});
	}

	/* The longest of its names that fits; else of the shortest as much as fits, or ''. */
	fitting(box) {
		const room = box.width - 2 * PAD, names = this.owner.label(box), widths = widthsOf(SIZE);

		return names.find(name => widths.fits(name, room)) || widths.cut(names[names.length - 1], room);
	}
}

/* The boxes of each row, from left to right: most come so. */
function inRows(boxes, nr) {
	const rows = Array.from({ length: nr }, () => []), mixed = new Set();

	for (const box of boxes) {
		const row = rows[box.row];
		if (row.length && row[row.length - 1].x > box.x)
			mixed.add(row);
		row.push(box);
	}
	for (const row of mixed)
		row.sort((a, b) => a.x - b.x);
	return rows;
}

function frame(context, colour, box, y) {
	context.strokeStyle = colour;
	context.lineWidth = 2;
	context.strokeRect(box.x + 1, y + 1, Math.max(box.width - 3, 1), ROW - 3);
}

/*
 * An empty canvas of this size in page pixels; resizing it costs more than clearing it. grows: it may stay higher than that, of
 * which the style sheet shows the part on top.
 */
export function prepare(canvas, context, width, height, grows = false) {
	const scale = window.devicePixelRatio || 1, wide = Math.max(1, Math.round(width * scale));
	const high = Math.max(1, Math.round(height * scale)), most = grows ? Math.max(high, MOST_SPARE) : high;

	if (canvas.width !== wide || canvas.height < high || canvas.height > most) {
		canvas.width = wide;
		canvas.height = high;
	}
	context.setTransform(scale, 0, 0, scale, 0, 0);
	context.clearRect(0, 0, width, height);
}

let known = null;

/* The style sheet's colours, as long as the theme is the same. */
export function colours(element) {
	if (known)
		return known;
	const style = getComputedStyle(element);
	known = {};
	for (const name of ['java', 'inlined', 'interpreted', 'stub', 'native', 'kernel', 'process', 'mark', 'object', 'other', 'found',
		'picked', 'text', 'boxText', 'faint', 'heat', 'ground', 'on', 'ready', 'lock', 'io', 'net', 'slept', 'gc', 'rest', 'idle',
		...STATES, ...CHANGES, ...Array.from({ length: HUES }, (_, i) => 'hue' + i)])
		known[name] = style.getPropertyValue('--' + name).trim();
	return known;
}

export function forgetColours() {
	known = null;
}
