/** Lets the browser fetch a file that the engine offers. */
export function download(path: string): void {
  const link = document.createElement('a');
  link.href = new URL(path.replace(/^\//, ''), location.href.split('#')[0]).href;
  link.download = '';
  link.click();
}
