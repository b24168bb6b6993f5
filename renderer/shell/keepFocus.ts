/** Longer than a dialog takes to return the focus by itself. */
const SETTLED_MS = 50;
const REMEMBERED = 8;

const mayHaveIt = (one: HTMLElement): boolean => one.isConnected && !one.matches(':disabled');

/**
 * Keeps the focus from getting lost. If the focused element is removed (a button that a run's new state removes, a dialog), the browser focuses nothing, and libraries return the focus to the previous element even if that was
 * removed too, which does nothing. The focus then goes to the last focused element that is still on the screen, else to the heading.
 */
export function keepFocus(): () => void {
  /** Oldest first. */
  let before: HTMLElement[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const remember = ({ target }: FocusEvent) => {
    if (target instanceof HTMLElement)
      before = [...before.filter((one) => one !== target), target].slice(-REMEMBERED);
  };
  /** A click on empty space clears the focus deliberately, and so does leaving the page. */
  const forget = ({ target, relatedTarget }: FocusEvent) => {
    // Chromium fires the same event for a button that gets disabled, and for an element that is being removed but still connected.
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
    // A button that is disabled while it works may get the focus back, unless it has been removed meanwhile.
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
