// SPDX-License-Identifier: GPL-2.0-or-later
// text.mjs - how wide texts are, by the widths of their characters: a graph has hundreds of names, and a browser takes longer to
// measure one than to draw its box.
export const SIZE = 12;	// of names in boxes, in pixels
const UNITS = 65536;

/*
 * measure(text): how wide it is in the font, in pixels; it is asked once for each character. A text takes what its characters
 * take, less what a font moves some of them together, which is hardly a pixel.
 */
export class TextWidths {
	constructor(measure) {
		this.measure = measure;
		this.known = new Float32Array(UNITS).fill(-1);
	}

	/* Of a unit of UTF-16: half of a character that has two is as wide as what a browser shows for it alone. */
	unit(text, i) {
		const code = text.charCodeAt(i);

		if (this.known[code] < 0)
			this.known[code] = this.measure(text[i]);
		return this.known[code];
	}

	of(text) {
		let width = 0;

		for (let i = 0; i < text.length; i++)
			width += this.unit(text, i);
		return width;
	}

	/* How many units of the text fit into the room, in pixels. */
	nrIn(text, room) {
		let i = 0;

		for (let left = room; i < text.length; i++)
			if ((left -= this.unit(text, i)) < 0)
				break;
		return i;
	}

	fits(text, room) {
		return this.nrIn(text, room) === text.length;
	}

	/* As much of the text as fits, with an ellipsis; '': nothing worth reading. */
	cut(text, room) {
		if (this.fits(text, room))
			return text;
		const nr = this.nrIn(text, room - this.of('…')), isHalf = /[\udc00-\udfff]/.test(text.charAt(nr));
		return nr > 1 ? text.slice(0, isHalf ? nr - 1 : nr) + '…' : '';
	}
}

export function fontOf(size) {
	return `${size}px system-ui, sans-serif`;
}

const widthsKnown = new Map();

/* Of texts of that size; in a context of its own, as those that are drawn into change their fonts. */
export function widthsOf(size) {
	let widths = widthsKnown.get(size);

	if (!widths) {
		const context = document.createElement('canvas').getContext('2d');
		context.font = fontOf(size);
		widthsKnown.set(size, widths = new TextWidths(text => context.measureText(text).width));
	}
	return widths;
}

export function escapeMarkup(text) {
	return text.replace(/[&<>"']/g, ch => `&#${ch.charCodeAt(0)};`)
		.replace(/[\0-\x08\x0b\x0c\x0e-\x1f]/g, '\ufffd');
}
