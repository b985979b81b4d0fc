(() => {
'use strict';
// Flame graphs: a click or tap enlarges a box, a search marks functions, and letters keep their size on any screen.
const ROW = 17, LETTER = 6.7;
const make = (tag, words, parent) => {
  const x = document.createElement(tag);
  x.textContent = words;
  parent.append(x);
  return x;
};
for (const svg of document.querySelectorAll('svg.flame')) {
  const whole = svg.viewBox.baseVal.width, figure = svg.closest('figure');
  // What the pictures say: of each box its name, figures, place and row.
  const boxes = [...svg.querySelectorAll('g')].map(g => {
    const rect = g.querySelector('rect'), title = g.querySelector('title').textContent;
    const name = (/^(.*): [^:]+, [^ ]+% of all/.exec(title) || [title, title])[1];
    const x = +rect.getAttribute('x') / whole, width = (+rect.getAttribute('width') + 0.5) / whole;
    return {g, rect, title, name, x, end: x + width, row: Math.round(rect.getAttribute('y') / ROW), text: g.querySelector('text')};
  });
  if (!boxes.length) continue;
  const tools = document.createElement('p'), find = document.createElement('input');
  tools.className = 'flame-tools';
  find.type = 'search';
  find.placeholder = 'Find functions';
  find.setAttribute('aria-label', 'Find functions');
  tools.append(find);
  const back = make('button', 'Show all', tools), says = make('span', '', tools);
  back.type = 'button';
  says.setAttribute('aria-live', 'polite');
  figure.prepend(tools);
  let top = boxes[0];
  const near = 1e-4; // places are rounded to a tenth of a unit of 1,200
  const holds = (a, b) => a.x <= b.x + near && a.end >= b.end - near;
  const draw = () => {
    // A wide screen gets the picture's own width.
    const width = Math.max(280, svg.parentElement.clientWidth || whole), span = top.end - top.x;
    svg.style.minWidth = 0;
    let deepest = 0;
    for (const b of boxes) {
      const above = b.row < top.row && holds(b, top), below = b.row >= top.row && holds(top, b);
      const from = above ? 0 : (b.x - top.x) / span * width, to = above ? width : (b.end - top.x) / span * width;
      const shown = (above || below) && to - from >= 0.4;
      b.g.style.display = shown ? '' : 'none';
      if (!shown) continue;
      deepest = Math.max(deepest, b.row);
      b.rect.setAttribute('x', from);
      b.rect.setAttribute('width', Math.max(0.2, to - from - 0.5));
      b.g.style.opacity = above ? 0.6 : '';
      const room = Math.floor((to - from - 6) / LETTER);
      if (room < 3) {
        if (b.text) b.text.textContent = '';
        continue;
      }
      if (!b.text) {
        b.text = document.createElementNS(svg.namespaceURI, 'text');
        b.text.setAttribute('y', b.row * ROW + 12);
        b.g.append(b.text);
      }
      // Without room the folders go, then the package: what differs is at the end.
      let name = b.name;
      for (const end of '/.') if (name.length > room) name = name.slice(name.split('[')[0].lastIndexOf(end) + 1);
      b.text.setAttribute('x', from + 3);
      b.text.textContent = name.length > room ? name.slice(0, room - 2) + '..' : name;
    }
    svg.setAttribute('viewBox', `0 0 ${width} ${(deepest + 1) * ROW}`);
    back.hidden = top === boxes[0];
  };
  // Marks what was looked for, and says its share: of boxes within each other the outermost counts.
  const search = () => {
    const words = find.value.toLowerCase(), found = words ? boxes.filter(b => b.name.toLowerCase().includes(words)) : [];
    for (const b of boxes) b.rect.style.stroke = b.rect.style.strokeWidth = '';
    let share = 0, end = -1;
    for (const b of found) {
      b.rect.style.stroke = 'currentColor';
      b.rect.style.strokeWidth = '2';
    }
    for (const b of [...found].sort((a, b) => a.x - b.x || a.row - b.row)) {
      if (b.end <= end + near) continue;
      share += b.end - Math.max(b.x, end);
      end = b.end;
    }
    says.textContent = !words ? '' : found.length
      ? ` ${found.length} boxes, ${(100 * share).toPrecision(3) * 1} % of the width` : ' no such function';
    return found;
  };
  const zoom = b => {
    top = b;
    draw();
    says.textContent = ' ' + b.title;
  };
  for (const b of boxes) {
    b.g.style.cursor = 'pointer';
    b.g.addEventListener('click', () => zoom(b));
    b.g.addEventListener('pointerenter', () => { if (!find.value) says.textContent = ' ' + b.title; });
  }
  back.addEventListener('click', () => zoom(boxes[0]));
  find.addEventListener('input', search);
  find.addEventListener('keydown', e => {
    if (e.key !== 'Enter') return;
    const found = search();
    // The widest of them, from the keyboard.
    if (found.length) zoom(found.reduce((a, b) => b.end - b.x > a.end - a.x ? b : a));
  });
  addEventListener('keydown', e => { if (e.key === 'Escape') zoom(boxes[0]); });
  addEventListener('resize', draw);
  svg.closest('details')?.addEventListener('toggle', draw);
  draw();
}
})();
