// SPDX-License-Identifier: GPL-2.0-or-later
// graphs.mjs - the three graphs of boxes: what a box says, and what a click on it does.
import { BoxCanvas } from './boxes.mjs';
import { changeOf } from './difference.mjs';
import { callees, callers, functionGroup, layOut, layOutGroups, leafGroups } from './layout.mjs';
import { amount, fullName, percent, shortNames } from './names.mjs';
import { idleRoot, idOf } from './model.mjs';

const MOST_DEEP = 400, GAP = 3;

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

		consumers.names ??= [];
		return consumers.names[consumer] ??= namesOf(consumers, consumer);
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
}

/* Both sides of a difference, A on the left: boxes of one context are at the same height. */
export class TwoSides {
	constructor(left, right, page) {
		this.sides = [left, right].map(canvas => new BoxCanvas(canvas, new SideOwner(page)));
		this.boxes = this.sides[1];	// the one that is saved
		this.page = page;
	}

	show(state) {
		const { look, width } = this.page, { cum } = look.sides, half = Math.floor(width / 2) - GAP;

		this.sides.forEach((boxes, side) => {
			const made = layOut(look.tree, cum[side], state.zoom, half, cum[1 - side]);
			boxes.show(made.boxes, made.rows, half);
		});
	}
}

export class Inverted {
	constructor(canvas, page) {
		this.boxes = new BoxCanvas(canvas, new GroupOwner(page));
		this.page = page;
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

	show() {
		const { look, picked, width } = this.page, cum = look.sums.cum[look.metric];
		const roots = functionGroup(look.tree, cum, picked), total = roots.reduce((x, g) => x + g.sum, 0) || 1;
		const up = layOutGroups(roots, callers(look.tree), width, total, MOST_DEEP);
		const down = layOutGroups(roots, callees(look.tree, cum), width, total, MOST_DEEP);

		this.upper.show(up.boxes, up.rows, width, { rowsUp: true });
		this.lower.show(down.boxes, down.rows, width);
	}
}
