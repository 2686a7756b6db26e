/* SPDX-License-Identifier: Apache-2.0 */
/* Added to a page whose policy lets it: uses everything that can be used, and writes what it saw into data-driven. */
'use strict';
addEventListener('load', () => {
	const seen = [], root = document.documentElement, all = q => [...document.querySelectorAll(q)];
	const note = (what, ok) => seen.push(what + '=' + (ok ? 'ok' : 'FAILED'));
	const ink = () => all('.plot canvas, .map canvas').map(c => {
		const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
		let h = 0;
		for (let i = 0; i < p.length; i++) h = (h * 31 + p[i]) | 0;
		return h;
	}).join();
	const click = text => { const b = all('button').find(e => e.textContent === text); if (b) b.click(); return b; };

	const light = ink();
	click('Dark');
	note('dark', root.dataset.theme === 'dark' && document.getElementById('theme').getAttribute('aria-pressed') === 'true');
	note('dark-redraws', ink() !== light);
	click('Dark');
	note('light-again', root.dataset.theme === 'light' && ink() === light);
	click('Cumulative');
	note('cumulative', ink() !== light);
	click('Distribution');
	note('distribution', ink() === light);
	const same = click('Same time scale');
	note('same-scale', !same || ink() !== light);
	click('Same time scale');
	/* With the keyboard: into the picture and back. */
	const plot = document.querySelector('.plot[tabindex="0"]');
	const press = key => plot.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
	if (plot) {
		const before = ink();
		press('+');
		const near = ink();
		note('key-zooms', near !== before);
		press('ArrowRight');
		note('key-moves', ink() !== near);
		press('0');
		note('key-back', ink() === before);
		note('key-others', press('x'));
	}
	all('details').forEach(d => { d.open = true; });
	note('tables', all('details table').every(t => t.getBoundingClientRect().height > 20));
	for (const c of all('.plot, .map canvas')) {
		const r = c.getBoundingClientRect();
		for (const x of [.3, .6]) {
			const e = { bubbles: true, view: window, clientX: r.left + r.width * x, clientY: r.top + r.height * .5 };
			(c.querySelector('canvas:last-of-type') || c).dispatchEvent(new MouseEvent('mousemove', e));
		}
	}
	note('values', all('.values').some(v => v.querySelector('b')));
	click('Dark');
	dispatchEvent(new Event('beforeprint'));
	note('paper', document.body.classList.contains('paper') && root.dataset.theme === 'light');
	dispatchEvent(new Event('afterprint'));
	note('screen', !document.body.classList.contains('paper') && root.dataset.theme === 'dark');
	click('Dark');
	/* All that can be used is reached with the keyboard, and named. */
	const focusable = all('a[href], button, summary, [tabindex="0"]');
	note('keyboard', focusable.every(e => { e.focus(); return document.activeElement === e; }));
	note('names', focusable.every(e => e.textContent.trim() || e.getAttribute('aria-label')) && all('[role="img"]').every(e => e.getAttribute('aria-label')));
	dispatchEvent(new Event('resize'));
	const scrolls = e => e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight;
	document.querySelectorAll('details').forEach(d => d.dispatchEvent(new Event('toggle')));
	note('scrollers', all('.wide, .scroll').every(e => (e.tabIndex === 0) === scrolls(e)));
	note('narrow', root.scrollWidth <= innerWidth);
	note('links', all('nav a').every(a => document.getElementById(a.hash.slice(1))));
	root.dataset.driven = seen.join(' ');
});
