import { afterEach, beforeEach, expect, it } from 'vitest';
import { waitFor } from '@testing-library/react';
import { keepFocus } from './keepFocus.ts';

let stop: () => void;
const element = (id: string): HTMLElement => {
  const found = document.getElementById(id);
  if (!found) throw new Error(`There is no ${id}`);
  return found;
};
beforeEach(() => {
  document.body.innerHTML = `<main><h1 id="heading" tabindex="-1">Runs</h1><button id="opener">Rename</button>
    <button id="pause">Pause</button></main><div id="dialog"><input id="field"></div>`;
  stop = keepFocus();
});
afterEach(() => {
  stop();
  document.body.innerHTML = '';
});
const has = (id: string) => waitFor(() => expect(document.activeElement).toBe(element(id)));

it('returns the focus to the previous element when a dialog closes', async () => {
  element('opener').focus();
  element('field').focus();
  element('dialog').remove();
  await has('opener');
});

it('moves the focus to the heading if the previous element has been removed as well', async () => {
  element('opener').focus();
  element('field').focus();
  element('opener').remove();
  element('dialog').remove();
  await has('heading');
});

it('leaves the focus where a dialog has put it, and nowhere after a click on empty space', async () => {
  element('opener').focus();
  element('field').focus();
  element('dialog').remove();
  element('pause').focus();
  await has('pause');
  element('pause').blur();
  element('opener').remove();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(document.activeElement).toBe(document.body);
});

it('returns the focus to a button that was disabled while it worked, and to another element if the button was removed instead', async () => {
  const pause = element('pause') as HTMLButtonElement;
  for (const leaves of [false, true]) {
    element('opener').focus();
    pause.focus();
    pause.disabled = true;
    pause.blur();
    await new Promise((resolve) => setTimeout(resolve, 100));
    pause.disabled = false;
    if (leaves) pause.remove();
    else pause.append('.');
    await has(leaves ? 'opener' : 'pause');
  }
});

it('moves the focus elsewhere if a button is removed while it works, even one that was briefly enabled again', async () => {
  const pause = element('pause') as HTMLButtonElement;
  element('opener').focus();
  pause.focus();
  pause.disabled = true;
  pause.blur();
  pause.disabled = false;
  await new Promise((resolve) => setTimeout(resolve, 20));
  pause.disabled = true;
  pause.remove();
  await has('opener');
});
