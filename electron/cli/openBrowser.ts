import { execa } from 'execa';

/** Opens an address in the user's browser; where there is no screen or no browser, the printed address has to do. */
export async function openBrowser(address: string): Promise<void> {
  const [file, ...args] = opener(address);
  if (file === undefined) return;
  await execa(file, args, { reject: false, stdio: 'ignore', detached: true, cleanup: false });
}

function opener(address: string): string[] {
  switch (process.platform) {
    case 'darwin':
      return ['open', address];
    case 'win32':
      return ['rundll32', 'url.dll,FileProtocolHandler', address];
    default:
      return process.env['DISPLAY'] || process.env['WAYLAND_DISPLAY'] ? ['xdg-open', address] : [];
  }
}
