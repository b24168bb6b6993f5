/** What the browser keeps for this window from one start to the next. It may forbid access to its storage, or have no room left. */
export function stored(
  key: string,
  storage: 'localStorage' | 'sessionStorage' = 'localStorage',
): string | null {
  try {
    return window[storage].getItem(key);
  } catch {
    return null;
  }
}

/** Null removes it. */
export function store(
  key: string,
  value: string | null,
  storage: 'localStorage' | 'sessionStorage' = 'localStorage',
): void {
  try {
    if (value === null) window[storage].removeItem(key);
    else window[storage].setItem(key, value);
  } catch {
    // The next start goes without it.
  }
}
