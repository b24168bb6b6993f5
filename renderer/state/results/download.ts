/** Lets the browser fetch a file that the engine offers. */
export function download(path: string): void {
  const link = document.createElement('a');
  link.href = new URL(path.replace(/^\//, ''), location.href.split('#')[0]).href;
  link.download = '';
  link.click();
}

/** Lets the browser save what the page has made itself. */
export function downloadBlob(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser has begun to read it by then, and a page that stays open for days must not keep every picture.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
