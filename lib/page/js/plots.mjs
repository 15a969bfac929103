// SPDX-License-Identifier: GPL-2.0-or-later
// plots.mjs - pictures of calls: how long they took over the time, and what that went to; their mean against a label's size.
import { colours, prepare } from './boxes.mjs';
import { fitOf, meansOf } from './means.mjs';
import { amount, fullName, percent } from './names.mjs';
import { element } from './table.mjs';
import { niceStep } from './time.mjs';

const SVG = 'http://www.w3.org/2000/svg';
const LEFT = 64, RIGHT = 12, TIME_TOP = 66, TIME_HIGH = 190, SPREAD_HIGH = 130, MEAN_HIGH = 230, GAP_HIGH = 52, TICKS = 5;

/* What the time of calls went to, from the bottom: its colour, and what records it. */
const PARTS = [['CPU', 'on'], ['GC', 'gc', '-e gc'], ['lock', 'lock', '-e lock'], ['I/O', 'io', '--sched'], ['off CPU', 'process', '--sched']];
const LINES = ['picked', 'heat', 'disk', 'runnable', 'faint'], MOST_LINKS = 12;

function shape(name, attributes, ...contents) {
	const e = document.createElementNS(SVG, name);

	for (const [key, value] of Object.entries(attributes))
		e.setAttribute(key, value);
	e.append(...contents);
	return e;
}

function text(x, y, content, more = {}) {
	return shape('text', { x, y, fill: 'var(--text)', ...more }, content);
}

function titled(e, title) {
	e.prepend(shape('title', {}, title));
	return e;
}

function axes(left, top, right, high) {
	return shape('path', { d: `M${left} ${top}V${top + high}H${right}`, fill: 'none', stroke: 'var(--faint)' });
}

/* Numbers beside the left axis, which ends at most. */
function scale(top, high, most, unit) {
	return Array.from({ length: TICKS + 1 }, (_, i) => text(LEFT - 6, top + high - i / TICKS * high + 4, amount(Math.round(most * i / TICKS), unit),
		{ 'text-anchor': 'end', fill: 'var(--faint)' }));
}

/* A column from the bottom; its parts as they share its time. */
function stack({ sum, parts }, names, x, width, bottom, high) {
	const group = shape('g', {});
	let y = bottom;

	for (const [name, colour] of PARTS) {
		/* calls that took no time at all were on a CPU */
		const share = sum ? (parts[names.indexOf(name)] || 0) / sum : Number(name === 'CPU');
		if (!share)
			continue;
		y -= share * high;
		group.append(shape('rect', { x, y, width, height: share * high, fill: `var(--${colour})` }));
	}
	return group;
}

/* As lib/base/spread.h has it. */
function binStart(k) {
	return k ? [1, 2, 5][(k - 1) % 3] * 10 ** Math.floor((k - 1) / 3) : 0;
}

function shares({ sum, parts }, names) {
	return PARTS.filter(([name]) => parts[names.indexOf(name)]).map(([name]) => `${name} ${percent(parts[names.indexOf(name)], sum)} %`).join(', ');
}

function callsWord(n) {
	return `${n.toLocaleString('en')} call${n === 1 ? '' : 's'}`;
}

export class Plots {
	/* page: {model, look, picked, width, go, brush}. */
	constructor(place, page) {
		Object.assign(this, { place, page });
	}

	show(state) {
		const { model } = this.page, { plots } = model.data, parts = [];

		if (plots)
			parts.push(...this.calls(plots, state));
		if (model.sizeKey)
			parts.push(this.means(model.sizeKey));
		this.place.replaceChildren(...parts);
	}

	link(name) {
		const c = this.page.look.consumers.name.indexOf(name);

		return c < 1 ? name : element('a', { href: '#', onclick: this.page.pickNamed(name) }, name);
	}

	/* How long the calls of the picked function took. */
	calls(plots, state) {
		const { look, picked } = this.page, name = picked ? fullName(look.consumers, picked) : '', at = plots.functions.indexOf(name);

		if (at < 0)
			return [element('p', { class: 'note' }, `${name} is none of the ${plots.functions.length} functions whose calls took most time: `,
				...plots.functions.slice(0, MOST_LINKS).flatMap((other, k) => [k ? ', ' : '', this.link(other)]))];
		const { width } = this.page, of = plots.of(at), legend = this.legend(plots, of, width), row = this.page.model.more.calls && this.page.model.more.calls.of.get(name);
		this.top = TIME_TOP + legend.high;
		const spreadTop = this.top + TIME_HIGH + GAP_HIGH, height = spreadTop + SPREAD_HIGH + 26;
		const svg = shape('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `How long the calls of ${name} took`,
			'font-family': 'system-ui, sans-serif', 'font-size': 12 });

		svg.append(text(LEFT, 18, name, { 'font-weight': 600, 'font-size': 14 }), ...legend.items,
			...this.times(plots, of, row, state), ...this.spread(plots, of, spreadTop));
		this.listen(svg);
		return [svg, this.unknown(plots)].filter(Boolean);
	}

	/* What their time went to in all: {items, high: what it takes beyond one line}. */
	legend(plots, { bins }, width) {
		const all = { sum: bins.reduce((x, b) => x + b.sum, 0), parts: plots.parts.map((_, k) => bins.reduce((x, b) => x + b.parts[k], 0)) };
		const n = bins.reduce((x, b) => x + b.n, 0), out = [];
		let x = LEFT, y = 36;

		for (const [name, colour] of PARTS.filter(([part]) => plots.parts.includes(part))) {
			const what = name === 'CPU' && plots.unknown.includes('off CPU') ? 'CPU, or not known' : name;
			const words = `${what} ${percent(all.parts[plots.parts.indexOf(name)], all.sum)} %`, room = 30 + 6.6 * words.length;
			if (x > LEFT && x + room > width) {
				x = LEFT;
				y += 15;
			}
			out.push(shape('rect', { x, y: y - 10, width: 11, height: 11, fill: `var(--${colour})` }), text(x + 16, y, words));
			x += room;
		}
		const words = `${callsWord(n)}, mean ${amount(n ? Math.round(all.sum / n) : 0, 'ns')}`;
		if (x > LEFT && x + 6.6 * words.length > width) {
			x = LEFT;
			y += 15;
		}
		out.push(text(x, y, words, { fill: 'var(--faint)' }));
		return { items: out, high: y - 36 };
	}

	/* Over the time from the first call to the last, or the part of the recording that is selected. */
	times(plots, { start, span, cells }, row, state) {
		const { width, model: { meta } } = this.page, each = span / cells.length, { top } = this, bottom = top + TIME_HIGH;
		const from = state.from === '' ? start : Number(state.from) * meta.tick_ns, to = state.to === '' ? start + span : Number(state.to) * meta.tick_ns;
		const pixels = (width - LEFT - RIGHT) / Math.max(to - from, 1), x = ns => LEFT + (ns - from) * pixels;
		const shown = cells.map((c, i) => ({ ...c, at: start + i * each, mean: c.n ? c.sum / c.n : 0 })).filter(c => c.n && c.at + each > from && c.at < to);
		/* a few calls that took much longer than all others do not make those flat */
		const most = Math.max(Math.min(shown.reduce((m, c) => Math.max(m, c.mean), 1), row && row.p99 ? 1.25 * row.p99 : Infinity), 1);
		const out = [text(LEFT, top - 8, 'mean by when calls begin; dots: the longest', { fill: 'var(--faint)' })];

		this.pixels = { from, pixels };
		if (!shown.length)
			return [text(LEFT, bottom, 'No call begins in the selected time.', { fill: 'var(--faint)' })];
		for (const c of shown) {
			const left = Math.max(x(c.at), LEFT), wide = Math.max(Math.min(x(c.at + each), width - RIGHT) - left, 0.5);
			const column = stack(c, plots.parts, left, wide, bottom, Math.min(c.mean / most, 1) * TIME_HIGH);
			if (c.mean > most)
				column.append(shape('path', { d: `M${left + wide / 2 - 3} ${top - 1}l3 -5l3 5z`, fill: 'var(--text)' }));
			if (c.n > 1 && c.max <= most)
				column.append(shape('circle', { cx: left + wide / 2, cy: bottom - c.max / most * TIME_HIGH, r: 1.5, fill: 'var(--text)' }));
			out.push(titled(column, `${amount(Math.round(c.at), 'ns')}: ${callsWord(c.n)}, mean ${amount(Math.round(c.mean), 'ns')}, ` +
				`longest ${amount(c.max, 'ns')}; ${shares(c, plots.parts)}`));
		}
		out.push(axes(LEFT, top, width - RIGHT, TIME_HIGH), ...scale(top, TIME_HIGH, most, 'ns'));
		const step = niceStep((to - from) / 1e9, (width - LEFT) / 90) * 1e9;
		for (let ns = Math.ceil(from / step) * step; ns <= to; ns += step)
			out.push(text(x(ns), bottom + 15, amount(Math.round(ns), 'ns'), { 'text-anchor': 'middle', fill: 'var(--faint)' }));
		return out;
	}

	/* How many took how long. */
	spread(plots, { bins }, top) {
		const first = bins.findIndex(b => b.n), last = bins.findLastIndex(b => b.n);
		const most = bins.reduce((m, b) => Math.max(m, b.n), 1), wide = Math.min(80, (this.page.width - LEFT - RIGHT) / (last - first + 1));
		const bottom = top + SPREAD_HIGH, high = SPREAD_HIGH - 16, out = [text(LEFT, top - 8, 'number of calls by duration', { fill: 'var(--faint)' })];

		for (let k = first; k <= last; k++) {
			const b = bins[k], x = LEFT + (k - first) * wide, column = stack(b, plots.parts, x + 1, wide - 2, bottom, b.n / most * high);
			if (wide > 34 || !((k - first) % 3))
				out.push(text(x, bottom + 15, amount(binStart(k), 'ns'), { 'text-anchor': 'middle', fill: 'var(--faint)' }));
			if (!b.n)
				continue;
			if (wide > 34)
				column.append(text(x + wide / 2, bottom - b.n / most * high - 4, b.n.toLocaleString('en'), { 'text-anchor': 'middle' }));
			out.push(titled(column, `${amount(binStart(k), 'ns')} and more: ${callsWord(b.n)}; ${shares(b, plots.parts)}`));
		}
		return [...out, axes(LEFT, top, this.page.width - RIGHT, SPREAD_HIGH)];
	}

	unknown(plots) {
		const words = PARTS.filter(([name]) => plots.unknown.includes(name)).map(([name, , option]) => `${name} (record ${option})`);

		return words.length ? element('p', { class: 'note' }, `not recorded, or there was none: ${words.join(', ')}; it is in the rest`) : null;
	}

	/* Dragging selects a time. */
	listen(svg) {
		const { meta } = this.page.model, tick = x => (this.pixels.from + (x - LEFT) / this.pixels.pixels) / meta.tick_ns;
		const place = e => e.clientX - svg.getBoundingClientRect().left;
		let begun = null, veil = null;

		svg.style.touchAction = 'pan-y';
		svg.addEventListener('pointerdown', e => (begun = place(e)));
		svg.addEventListener('pointermove', e => {
			if (begun === null || (!veil && Math.abs(place(e) - begun) < 4))
				return;
			if (!veil) {
				svg.setPointerCapture(e.pointerId);
				svg.append(veil = shape('rect', { y: this.top, height: TIME_HIGH, fill: 'var(--picked)', 'fill-opacity': 0.2 }));
			}
			veil.setAttribute('x', Math.min(begun, place(e)));
			veil.setAttribute('width', Math.abs(place(e) - begun));
		});
		svg.addEventListener('pointerup', e => {
			if (veil) {
				const [a, b] = [begun, place(e)].map(tick).sort((p, q) => p - q), from = Math.min(Math.max(Math.floor(a), 0), meta.ticks - 1);
				this.page.brush(from, Math.min(Math.max(Math.ceil(b), from + 1), meta.ticks));
			}
			begun = veil = null;
		});
	}

	/* The mean of the picked function and what it calls against the label, else of those that have most. */
	means(key) {
		const { look, width, picked, model } = this.page, of = meansOf(look, key), total = c => of.get(c).reduce((x, p) => x + p.cum, 0);
		const below = of.has(picked) ? model.stanza(look, picked).children.map(r => r.consumer) : [...of.keys()];
		const rest = below.filter(c => of.has(c) && c !== picked).sort((a, b) => total(b) - total(a));
		const lines = [...(of.has(picked) ? [picked] : []), ...rest].slice(0, LINES.length), all = lines.flatMap(c => of.get(c));
		const most = Math.max(...all.map(p => p.cum / p.n), 1), end = Math.max(...all.map(p => p.size), 1), top = 30 + 16 * lines.length;
		const height = top + MEAN_HIGH + 40, bottom = top + MEAN_HIGH, x = size => LEFT + size / end * (width - LEFT - RIGHT - 20);
		const y = p => bottom - p.cum / p.n / most * MEAN_HIGH, metric = model.meta.metrics[look.metric].name;
		const svg = shape('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `Mean against ${key}`,
			'font-family': 'system-ui, sans-serif', 'font-size': 12 }, text(LEFT, 18, `${metric} per call, mean, against ${key}`, { 'font-weight': 600, 'font-size': 14 }));

		lines.forEach((c, k) => {
			const points = of.get(c), colour = `var(--${LINES[k]})`, fit = fitOf(points), label = fullName(look.consumers, c);
			svg.append(shape('rect', { x: LEFT, y: 26 + 16 * k, width: 11, height: 11, fill: colour }), text(LEFT + 16, 36 + 16 * k,
				label + (fit ? `: ${fitWords(fit, key, look.unit)}` : '')));
			svg.append(shape('polyline', { points: points.map(p => `${x(p.size)},${y(p)}`).join(' '), fill: 'none', stroke: colour, 'stroke-width': 1.5 }));
			for (const p of points)
				svg.append(titled(shape('circle', { cx: x(p.size), cy: y(p), r: 3, fill: colour }),
					`${label}, ${key}=${p.size}: ${callsWord(p.n)}, mean ${amount(Math.round(p.cum / p.n), look.unit)}`));
		});
		svg.append(axes(LEFT, top, width - RIGHT, MEAN_HIGH), ...scale(top, MEAN_HIGH, most, look.unit));
		const step = niceStep(end, width / 90);
		for (let size = 0; size <= end; size += step)
			svg.append(text(x(size), bottom + 15, String(size), { 'text-anchor': 'middle', fill: 'var(--faint)' }));
		return svg;
	}

	/* What is shown, for a file. */
	toSvg() {
		const svgs = [...this.place.querySelectorAll('svg')], palette = colours(this.place), width = this.page.width;
		const all = shape('svg', { width, height: svgs.reduce((sum, s) => sum + Number(s.getAttribute('height')), 0),
			style: [...PARTS.map(p => p[1]), ...LINES, 'text', 'faint'].map(name => `--${name}: ${palette[name]}`).join('; ') },
		shape('rect', { width: '100%', height: '100%', fill: palette.ground }));
		let y = 0;

		for (const svg of svgs) {
			const copy = svg.cloneNode(true);
			copy.setAttribute('y', y);
			all.append(copy);
			y += Number(svg.getAttribute('height'));
		}
		return svgs.length ? new XMLSerializer().serializeToString(all) : '';
	}

	async toPng() {
		const source = this.toSvg(), image = new Image(), canvas = document.createElement('canvas');

		if (!source)
			return null;
		image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(source);
		await image.decode();
		prepare(canvas, canvas.getContext('2d'), image.width, image.height);
		canvas.getContext('2d').drawImage(image, 0, 0);
		return new Promise(done => canvas.toBlob(done, 'image/png'));
	}
}

function fitWords({ base, slope }, key, unit) {
	const slopeWords = unit === 'ns' ? `${Number(slope.toPrecision(3))} ns` : Number(slope.toPrecision(3));

	return `${base < 0 ? '−' : ''}${amount(Math.round(Math.abs(base)), unit)} ${slope < 0 ? '−' : '+'} ${String(slopeWords).replace(/^-/, '')} × ${key}`;
}
