/** A model's notice, such as "demo model, no biological meaning", where it stands as a sentence of its own. */
export const asSentence = (text: string) =>
  text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');
