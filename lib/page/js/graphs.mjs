// SPDX-License-Identifier: GPL-2.0-or-later
// graphs.mjs - the three graphs of boxes: what a box says, and what a click on it does.
import { BoxCanvas } from './boxes.mjs';
import { changeOf } from './difference.mjs';
import { callees, callers, functionGroup, layOut, layOutGroups, leafGroups } from './layout.mjs';
import { amount, fullName, isPlace, percent, shortNames } from './names.mjs';
import { idleRoot, idOf } from './model.mjs';
import { layOutTimes } from './order.mjs';
import { niceStep } from './time.mjs';

const MOST_DEEP = 400, GAP = 3, MOST_THREADS = 8, CELL = 2, LEAST_DRAG = 4;

/* From long to short. */
function namesOf(consumers, c) {
	const full = fullName(consumers, c), names = shortNames(consumers.name[c], consumers.kind[c]);

	return full === consumers.name[c] ? names : [full, ...names];
}

/* What the boxes of all graphs have in common; page: {look, go, say(text), found(consumer), picked}. */
class Owner {
	constructor(page) {
		this.page = page;
	}

	/* Each is shortened once: a zoom shows hundreds of boxes. */
	names(consumer) {
		const { consumers } = this.page.look;

		consumers.shortened ??= [];
		return consumers.shortened[consumer] ??= namesOf(consumers, consumer);
	}

	label(box) {
		return this.names(this.consumer(box));
	}

	family(box) {
		return this.page.colourOf(this.consumer(box));
	}

	isPicked(box) {
		return this.some(box, c => c === this.page.picked);
	}

	isFound(box) {
		return this.page.found ? this.some(box, this.page.found) : false;
	}

	some(box, test) {
		return test(this.consumer(box));
	}

	title(box) {
		const { look } = this.page, total = look.sums.cum[look.metric][0], value = this.value(box);

		return `${fullName(look.consumers, this.consumer(box))}: ${percent(value, total)} %, ${amount(value, look.unit)}`;
	}

	onHover(box) {
		this.page.say(box ? this.title(box) : '');
	}

	onClick(box) {
		this.page.go({ pick: idOf(this.page.look.consumers, this.consumer(box)) });
	}

	onZoom(box) {
		this.onClick(box);
	}
}

class ContextOwner extends Owner {
	consumer(box) {
		return this.page.look.tree.consumer[box.last];
	}

	some(box, test) {
		const { tree } = this.page.look;

		for (let i = box.last, k = 0; k < box.nr; i = tree.parent[i], k++)
			if (test(tree.consumer[i]))
				return true;
		return false;
	}

	/* What threads wait that have nothing to do is of one colour, whatever it is. */
	family(box) {
		const { look } = this.page, { tree, consumers } = look, idle = look.idleRoot ??= idleRoot(look);

		return idle && box.last > idle && box.last < tree.end[idle] && consumers.spent[tree.consumer[box.last]] ? 'idle' : super.family(box);
	}

	value(box) {
		return this.page.look.sums.cum[this.page.look.metric][box.first];
	}

	/* "main › 8 more › Words.main" */
	label(box) {
		if (box.nr === 1)
			return super.label(box);
		const { tree } = this.page.look, first = this.names(tree.consumer[box.first]);
		const last = this.names(tree.consumer[box.last]), more = box.nr > 2 ? ` › ${box.nr - 2} more › ` : ' › ';
		const shortest = last[last.length - 1];

		return [first[0] + more + last[0], first[first.length - 1] + more + shortest, '› ' + shortest];
	}

	title(box) {
		return super.title(box) + (box.nr > 1 ? ` (${box.nr} contexts in one row)` : '');
	}

	onZoom(box) {
		this.page.go({ zoom: box.first, pick: idOf(this.page.look.consumers, this.consumer(box)) });
	}
}

/* Of one side of a difference; what a box says is of both. */
class SideOwner extends ContextOwner {
	both(box) {
		return this.page.look.sides.cum.map(cum => cum[box.first]);
	}

	family(box) {
		return changeOf(...this.both(box));
	}

	label(box) {
		const names = super.label(box), change = this.page.model.difference.delta(...this.both(box));

		return [...names.map(name => `${name}  ${change}`), ...names];
	}

	title(box) {
		const { difference } = this.page.model, [a, b] = this.both(box), { tree, consumers } = this.page.look;
		const name = fullName(consumers, tree.consumer[box.last]);

		return `${name}: A ${difference.text(a)}, B ${difference.text(b)}, ${difference.delta(a, b)}`;
	}
}

/* Of boxes that lie in the time, and of the lines between them, which have a text: {text, node of a thread, or undefined}. */
class OrderOwner extends ContextOwner {
	label(box) {
		return box.text ? [box.text] : super.label(box);
	}

	family(box) {
		return box.text ? box.thread ? 'process' : 'idle' : super.family(box);
	}

	some(box, test) {
		return !box.text && super.some(box, test);
	}

	title(box) {
		const { from, perPixel } = this.page.order, ns = box.width * perPixel;

		return box.text || `${fullName(this.page.look.consumers, this.consumer(box))}: ${amount(ns, 'ns')} from ` +
			amount(Math.round(from + box.x * perPixel), 'ns');
	}

	onClick(box) {
		if (box.thread)
			this.page.go({ threads: String(box.thread) });
		else if (!box.text)
			super.onClick(box);
	}

	onZoom(box) {
		if (!box.text)
			this.page.order.zoom(box.x, box.x + box.width, { pick: idOf(this.page.look.consumers, this.consumer(box)) });
	}
}

class GroupOwner extends Owner {
	consumer(box) {
		return box.group.consumer;
	}

	value(box) {
		return box.group.sum;
	}
}

export class Flame {
	constructor(canvas, page) {
		this.boxes = new BoxCanvas(canvas, new ContextOwner(page));
		this.page = page;
	}

	show(state) {
		const { look, width } = this.page;
		const { boxes, rows } = layOut(look.tree, look.sums.cum[look.metric], state.zoom, width);

		this.boxes.show(boxes, rows, width);
	}

	/* Of a picture: picture.mjs. */
	get parts() {
		return [[this.boxes, 0, 0]];
	}
}

/* Both sides of a difference, A on the left: boxes of one context are at the same height. */
export class TwoSides {
	constructor(left, right, page) {
		this.sides = [left, right].map(canvas => new BoxCanvas(canvas, new SideOwner(page)));
		this.boxes = this.sides[1];	// the one of the keyboard
		this.page = page;
	}

	show(state) {
		const { look, width } = this.page, { cum } = look.sides, half = Math.floor(width / 2) - GAP;

		this.sides.forEach((boxes, side) => {
			const made = layOut(look.tree, cum[side], state.zoom, half, cum[1 - side]);
			boxes.show(made.boxes, made.rows, half);
		});
	}

	get parts() {
		const [a, b] = this.sides;

		return [[a, 0, 0], [b, a.width + 2 * GAP, 0]];
	}
}

export class Inverted {
	constructor(canvas, page) {
		this.boxes = new BoxCanvas(canvas, new GroupOwner(page));
		this.page = page;
	}

	get parts() {
		return [[this.boxes, 0, 0]];
	}

	show() {
		const { look, width } = this.page, m = look.metric;
		const roots = leafGroups(look.tree, look.sums.base[m]);
		const { boxes, rows } = layOutGroups(roots, callers(look.tree), width, look.sums.cum[m][0], MOST_DEEP);

		this.boxes.show(boxes, rows, width);
	}
}

/* Callers of the picked function above it, callees below; both as wide as its sum. */
export class Sandwich {
	constructor(upper, lower, page) {
		this.upper = new BoxCanvas(upper, new GroupOwner(page));
		this.lower = new BoxCanvas(lower, new GroupOwner(page));
		this.page = page;
	}

	get parts() {
		return [[this.upper, 0, 0], [this.lower, 0, this.upper.height]];
	}

	show() {
		const { look, picked, width } = this.page, cum = look.sums.cum[look.metric];
		const roots = functionGroup(look.tree, cum, picked), total = roots.reduce((x, g) => x + g.sum, 0) || 1;
		const up = layOutGroups(roots, callers(look.tree), width, total, MOST_DEEP);
		const down = layOutGroups(roots, callees(look.tree, cum), width, total, MOST_DEEP);

		this.upper.show(up.boxes, up.rows, width, { rowsUp: true });
		this.lower.show(down.boxes, down.rows, width);
	}
}

/* Stacks of threads over the time, or the part of it that is selected; dragging selects a part. */
export class TimeOrder {
	constructor(canvas, page) {
		this.page = page;
		this.canvas = canvas;
		for (const type of ['pointerdown', 'pointermove', 'pointerup', 'pointercancel'])
			canvas.addEventListener(type, e => this[type](e));
		canvas.addEventListener('click', e => this.endDrag(e), { capture: true });
		this.boxes = new BoxCanvas(canvas, new OrderOwner(page));
	}

	get parts() {
		return [[this.boxes, 0, 0]];
	}

	show(state) {
		const { model, look, width } = this.page, { ticks, tick_ns: tickNs } = model.meta, source = model.timedSourceOf(look.metric);
		const times = model.timesOf(source), { metric } = model.meta.sources[source], { nr, threads } = model.threadsInOrder(state, metric, times, MOST_THREADS);
		const name = metric === look.metric ? '' : `: ${model.meta.metrics[metric].name}`;

		this.from = state.from === '' ? 0 : Number(state.from) * tickNs;
		this.to = Math.max(state.to === '' ? ticks * tickNs : Number(state.to) * tickNs, this.from + 1);
		this.perPixel = (this.to - this.from) / width;
		const isTop = look.isTop ??= Uint8Array.from(look.consumers.kind, isPlace), all = [...this.ruler(width)], whole = { x: 0, width, first: 0, last: 0, nr: 1 };
		let row = 1;
		for (const t of threads) {
			const made = layOutTimes(times, t.ids, { from: this.from, to: this.to, width, cell: CELL, row: row + 1,
				mostDeep: MOST_DEEP, look, isTop });
			all.push({ ...whole, row, text: t.name + name, thread: t.node });
			for (const box of made.boxes)
				all.push(box);
			row += 1 + made.rows;
		}
		if (nr !== threads.length)
			all.push({ ...whole, row: row++, text: nr ? `and ${nr - threads.length} more threads: choose some of them above` : 'nothing' });
		this.boxes.show(all, row, width);
	}

	/* Boxes of equal times, with the time at which they begin. */
	*ruler(width) {
		const step = niceStep((this.to - this.from) / 1e9, width / 90) * 1e9;

		for (let ns = Math.ceil(this.from / step) * step; ns < this.to; ns += step) {
			const x = (ns - this.from) / this.perPixel;
			yield { x, width: Math.min(step / this.perPixel, width - x), row: 0, first: 0, last: 0, nr: 1, text: amount(Math.round(ns), 'ns') };
		}
	}

	/* Selects what is between two pixels. */
	zoom(left, right, changes = {}) {
		const { ticks, tick_ns: tickNs } = this.page.model.meta, tick = x => (this.from + x * this.perPixel) / tickNs;
		const from = Math.max(Math.floor(tick(Math.min(left, right))), 0), to = Math.min(Math.max(Math.ceil(tick(Math.max(left, right))), from + 1), ticks);

		this.page.go(from === 0 && to === ticks ? { from: '', to: '', ...changes } : { from: String(from), to: String(to), ...changes });
	}

	/* By that much around the box of the arrows, or the middle. */
	zoomBy(factor) {
		const { cursor } = this.boxes, { width } = this.page, middle = cursor && !cursor.text ? cursor.x + cursor.width / 2 : width / 2;

		this.zoom(middle - width * factor / 2, middle + width * factor / 2);
	}

	pointerdown(event) {
		this.begun = event.offsetX;
		this.dragged = false;
	}

	pointermove(event) {
		if (this.begun === undefined || (!this.dragged && Math.abs(event.offsetX - this.begun) < LEAST_DRAG))
			return;
		this.canvas.setPointerCapture(event.pointerId);
		this.dragged = true;
		this.boxes.paint();
		this.boxes.veil(this.begun, event.offsetX);
	}

	pointerup(event) {
		const { begun } = this;

		this.begun = undefined;
		if (this.dragged)
			this.zoom(begun, event.offsetX);
	}

	/* It was no click. */
	endDrag(event) {
		if (this.dragged)
			event.stopImmediatePropagation();
		this.dragged = false;
	}

	pointercancel() {
		this.begun = undefined;
		this.boxes.paint();
	}
}
