// Runs in the page, as a string: finds faults in the current layout.
/* global document */
(() => {
  const found = [];
  const nameOf = (element) =>
    `${element.tagName.toLowerCase()}.${element.classList.value} "${(element.textContent ?? '').trim().slice(0, 40)}"`;
  const isSeen = (element) =>
    element.checkVisibility() &&
    element.closest('.visually-hidden, .skip-link, [aria-hidden="true"]') === null;

  const document_ = document.documentElement;
  if (document_.scrollWidth > document_.clientWidth) found.push('the page scrolls sideways');
  if (document_.scrollHeight > document_.clientHeight) found.push('the page has a second scroll bar');
  const main = document.querySelector('main');
  if (!main) return ['there is no main part'];
  if (main.scrollWidth > main.clientWidth + 1) {
    const right = main.getBoundingClientRect().left + main.clientWidth;
    const widest = [...main.querySelectorAll('*')].filter(
      (element) =>
        isSeen(element) &&
        element.getBoundingClientRect().right > right + 1 &&
        element.closest('[role="grid"]') === null,
    );
    found.push(`the screen scrolls sideways: ${widest.slice(0, 3).map(nameOf).join('; ')}`);
  }

  // Text is cut off although a neighbour in its row has room to spare.
  for (const row of document.querySelectorAll('[role="grid"] [role="row"]')) {
    const cells = [...row.querySelectorAll('[role="gridcell"], [role="columnheader"]')];
    const spare = cells.some((cell) => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      return cell.clientWidth - range.getBoundingClientRect().width > 160;
    });
    for (const cell of cells)
      if (spare && cell.scrollWidth > cell.clientWidth + 1 && isSeen(cell))
        found.push(`cut beside free room: ${nameOf(cell)}`);
  }

  // Labels are cut off, and nothing else shows the whole text. Labels one pixel wide are for screen readers
  // only.
  for (const label of document.querySelectorAll(
    '.mantine-Button-label, .mantine-Tabs-tabLabel, .mantine-SegmentedControl-innerLabel, [class*="placeName"]',
  ))
    if (label.scrollWidth > label.clientWidth + 1 && label.clientWidth > 1 && isSeen(label))
      found.push(`cut label: ${nameOf(label)}`);

  // Only a letter or two of a name are visible.
  for (const name of document.querySelectorAll('.ellipsis'))
    if (name.scrollWidth > name.clientWidth + 1 && name.clientWidth < 48 && isSeen(name))
      found.push(`cut to almost nothing: ${nameOf(name)}`);

  // Buttons and headings overlap.
  const blocks = [...main.querySelectorAll('button, h1, h2, h3, dt, dd')].filter(isSeen);
  const boxes = blocks.map((element) => element.getBoundingClientRect());
  for (const [first, a] of boxes.entries())
    for (let second = first + 1; second < boxes.length; second++) {
      const b = boxes[second];
      const [one, other] = [blocks[first], blocks[second]];
      if (!b || !one || !other || one.contains(other) || other.contains(one)) continue;
      const overlapX = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const overlapY = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      const inTables =
        one.closest('[role="grid"], ol') !== null || other.closest('[role="grid"], ol') !== null;
      if (overlapX > 2 && overlapY > 2 && !inTables)
        found.push(`overlap: ${nameOf(one)} and ${nameOf(other)}`);
    }
  return [...new Set(found)].slice(0, 12);
})();
