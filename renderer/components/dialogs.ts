/** The button that takes something away. */
export const DESTRUCTIVE = { color: 'red.8' } as const;
