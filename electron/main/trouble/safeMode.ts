/** Draws windows without the graphics card, for drivers that paint nothing; runs use it all the same. */
export const SAFE_MODE_SWITCH = '--safe-mode';
