import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where a packaged program looks for newer versions; null where its packager named no place. */
export function releaseAddress(resources: string): string | null {
  let text: string;
  try {
    text = readFileSync(join(resources, 'app-update.yml'), 'utf8');
  } catch {
    return null;
  }
  const address = /^url: *['"]?([^\s'"]+)['"]? *$/m.exec(text)?.[1];
  if (address === undefined || !URL.canParse(address)) return null;
  const { protocol, hostname } = new URL(address);
  // What is fetched is compared with a hash from the same place, so the place must be the one that was named. Nobody is between this
  // computer and itself.
  if (protocol !== 'https:' && hostname !== '127.0.0.1') return null;
  // The placeholder: RFC 2606 keeps this ending free for ever.
  return hostname.endsWith('.invalid') ? null : address;
}
