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
    // Chromium says the same of a button that is disabled, and of an element that is being removed, while it is still there.
    if (relatedTarget !== null || !(target instanceof HTMLElement) || target.matches(':disabled')) return;
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
  const isLost = () => {
    const last = before.at(-1);
    // A button that is disabled while it works may have it again, unless it has left meanwhile.
    const mayReturn = last?.isConnected === true && last.matches(':disabled');
    return document.activeElement === document.body && last !== undefined && !mayReturn;
  };
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
