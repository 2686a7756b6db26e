/* SPDX-License-Identifier: Apache-2.0 */
/* System calls, io_uring requests, page faults, where the bytes went, and programs of containers. */
'use strict';

const layerOf = ([title, level, missing, ...v]) =>
	({ title, level, missing, sides: [0, 1].map(d => ({ n: v[3 * d], bytes: v[3 * d + 1], base: v[3 * d + 2] })) });
const sideName = ['read', 'written'];

/* One layer: a bar for each direction that has bytes anywhere, as long as its share of the most. */
function layerBars(l, most, used) {
	const words = s => s.bytes === null ? 'n/a' : s.base > 0 ? `${show.bytes(s.bytes)}, ratio ${show.ratio(s.bytes / s.base)}` : show.bytes(s.bytes);
	return el('div', { class: 'layer' + (l.level ? ' part' : '') },
		el('div', { class: 'small' }, l.title),
		l.missing ? el('div', { class: 'small soft' }, 'n/a: ' + l.missing) :
			el('div', {}, used.map(d => el('div', { class: 'figure' },
				el('span', { class: 'small soft' }, sideName[d]),
				el('div', { class: 'bar', role: 'img', 'aria-label': `${l.title}: ${words(l.sides[d])} ${sideName[d]}` },
					l.sides[d].bytes > 0 && el('i', { class: dirClass[d], style: share(l.sides[d].bytes, most) })),
				el('span', { class: 'small num' }, words(l.sides[d]))))));
}

function layerTable(rows) {
	const ratio = s => [s.bytes !== null && s.base > 0 ? s.bytes / s.base : null, 'ratio'];
	return {
		caption: 'Bytes by layer; ratios are to the program\u2019s bytes, those of \u201cby\u201d to the bytes of what caused them',
		cols: [['layer', 'text'], ['reads', 'n'], ['read', 'bytes'], ['ratio', 'ratio'], ['writes', 'n'], ['written', 'bytes'], ['ratio', 'ratio']],
		rows: rows.map(l => [(l.level ? '\u2003' : '') + l.title,
			...(l.missing ? [['n/a', 'text'], null, null, null, null, null] : l.sides.flatMap(s => [s.n, s.bytes, ratio(s)]))]),
	};
}

function joinedBar(causes) {
	const all = causes.reduce((n, c) => n + c[1], 0), yes = causes.filter(c => c[0]).reduce((n, c) => n + c[1], 0);
	if (!all) return false;
	return el('div', { class: 'cycle' },
		el('div', { class: 'small' }, el('b', {}, thousands(yes)), ` of ${thousands(all)} commands have a call, request or fault that surely caused them`),
		el('div', { class: 'bar', role: 'img', 'aria-label': `${thousands(yes)} of ${thousands(all)} commands are joined` },
			yes > 0 && el('i', { class: 'c-p3', style: share(yes, all) }), all > yes && el('i', { class: 'c-wait', style: share(all - yes, all) })),
		table({
			caption: 'Commands by what ties them to a call, request or fault, or why nothing does',
			cols: [['', 'text'], ['commands', 'n'], ['bytes', 'bytes'], ['', 'text']],
			rows: causes.map(([is, n, bytes, why]) => [is ? 'joined' : 'not joined', n, bytes, why]),
		}, 'How they were joined'));
}

function layers(a, i) {
	if (!a.programs) return none('No system calls and no io_uring requests are in this capture.');
	const rows = a.programs.layers.map(layerOf);
	const used = [0, 1].filter(d => rows.some(l => l.sides[d].bytes > 0));
	const most = Math.max(1, ...rows.flatMap(l => l.sides.map(s => s.bytes)));
	return [
		bars('layers-' + i, el('div', { class: 'layers' }, rows.map(l => layerBars(l, most, used)))),
		table(layerTable(rows), NUMBERS),
		a.programs.causes && joinedBar(a.programs.causes),
	];
}

function callTables(a) {
	const c = a.programs && a.programs.syscalls;
	if (!c) return none('No system calls are in this capture.');
	return [
		el('p', {}, el('b', { class: 'num' }, thousands(c.n)), ' calls, ', thousands(c.failed), ' failed.'),
		table(c.calls),
		c.files.rows.length > 0 && table(c.files),
		c.files_left > 0 && el('p', { class: 'small soft' }, `${thousands(c.files_left)} more files: kvio sql has them.`),
	];
}

function uringTable(a) {
	const u = a.programs && a.programs.uring;
	if (!u) return none('No io_uring requests are in this capture.');
	return [
		el('p', {}, el('b', { class: 'num' }, thousands(u.n)), ` requests on ${thousands(u.rings)} ring${u.rings === 1 ? '' : 's'}, `,
			thousands(u.failed), ' failed, ', thousands(u.unfinished), ' without a completion.'),
		table(u.ops),
	];
}

function faultTables(a) {
	const f = a.faults;
	if (!f) return none('No page faults are in this capture.');
	return [
		el('p', {}, el('b', { class: 'num' }, thousands(f.n)), ' faults, ', thousands(f.major), ' waited for IO.',
			f.incomplete && ' Events were lost: all of these are lower bounds.',
			f.markers > 0 && ` The application says in ${thousands(f.markers)} marker${f.markers === 1 ? '' : 's'} that it had use for ${show.bytes(f.useful)}.`,
			f.hint && ` Most of the amplification: ${f.hint}.`),
		table(f.ratios),
		f.files.rows.length > 0 && table(f.files),
		f.files_left > 0 && el('p', { class: 'small soft' }, `${thousands(f.files_left)} more files: kvio sql has them.`),
	];
}

function containerTable(a) {
	const c = a.containers;
	if (!c) return none('No program of a container is in this capture.');
	return [
		table(c.programs),
		c.left > 0 && el('p', { class: 'small soft' }, `${thousands(c.left)} more programs: kvio sql has them (table task).`),
	];
}
