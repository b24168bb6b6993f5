/**
 * For a button that has nothing to do at the moment, perhaps because it was just pressed: it looks disabled and is read as such, but
 * keeps the focus, which a disabled button loses. Its handler must do nothing then.
 */
export const idle = (isIdle: boolean) => (isIdle ? { 'data-disabled': true, 'aria-disabled': true } : {});
