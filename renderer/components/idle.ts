/**
 * For a button that has nothing to do as things stand, and may have been pressed just now: it looks and is read as disabled, and keeps
 * the focus, which a disabled one loses. Its handler must do nothing then.
 */
export const idle = (isIdle: boolean) => (isIdle ? { 'data-disabled': true, 'aria-disabled': true } : {});
