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
  // The placeholder: RFC 2606 keeps this ending free for ever.
  return new URL(address).hostname.endsWith('.invalid') ? null : address;
}
