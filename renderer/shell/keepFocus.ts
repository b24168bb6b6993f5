/** Longer than a dialog takes to give the focus back by itself. */
const SETTLED_MS = 50;
const REMEMBERED = 8;

const mayHaveIt = (one: HTMLElement): boolean => one.isConnected && !one.matches(':disabled');

/**
 * The focus is never lost. When who has it leaves the page (a button that a run's new state takes away, a dialog, the search field
 * of the command palette), the browser gives it to nobody, and libraries give it back to who had it before even where that one
 * has left too, which does nothing. It goes to the last one that had it on the screen and is still there, else to the heading.
 */
export function keepFocus(): () => void {
  /** The newest last. */
  let before: HTMLElement[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const remember = ({ target }: FocusEvent) => {
    if (target instanceof HTMLElement)
      before = [...before.filter((one) => one !== target), target].slice(-REMEMBERED);
  };
  /** Whoever clicks beside everything wants the focus nowhere, and who looks elsewhere takes it along. */
  const forget = ({ target, relatedTarget }: FocusEvent) => {
    if (relatedTarget !== null || !(target instanceof HTMLElement)) return;
    // Chromium says the same of an element that is being removed, while it is still there, and of a button that is disabled.
    setTimeout(() => {
      if (mayHaveIt(target) && document.activeElement === document.body) before = [];
    });
  };
  const giveBack = () => {
    if (!isLost()) return;
    const last = before.findLast((one) => mayHaveIt(one) && one.closest('main') !== null);
    for (const one of [last, document.querySelector<HTMLElement>('main h1')]) {
      one?.focus({ preventScroll: true });
      if (document.activeElement !== document.body) return;
    }
  };
  // A button that was disabled while it worked may have it again.
  const isLost = () =>
    document.activeElement === document.body && before.at(-1)?.matches(':disabled') === false;
  const observer = new MutationObserver(() => {
    if (!isLost()) return;
    clearTimeout(timer);
    timer = setTimeout(giveBack, SETTLED_MS);
  });
  document.addEventListener('focusin', remember);
  document.addEventListener('focusout', forget);
  observer.observe(document.body, { childList: true, subtree: true });
  return () => {
    clearTimeout(timer);
    observer.disconnect();
    document.removeEventListener('focusin', remember);
    document.removeEventListener('focusout', forget);
  };
}
