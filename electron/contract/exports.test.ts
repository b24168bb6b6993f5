import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CITATIONS } from './exports.ts';

const file = readFileSync(join(import.meta.dirname, '..', '..', 'CITATION.cff'), 'utf8').replaceAll(
  /\s+/g,
  ' ',
);

describe('citations', () => {
  it.each(CITATIONS)('matches CITATION.cff for $subject', ({ authors, id, title, year }) => {
    expect(file).toContain(title);
    expect(file).toContain(id);
    expect(file).toContain(`year: ${year}`);
    for (const author of authors.split(', ')) {
      const family = author.split(' ').slice(0, -1).join(' ');
      expect(file).toContain(`family-names: ${family},`);
    }
  });

  it('includes every citation', () => {
    expect(file.match(/- type: article/g)).toHaveLength(CITATIONS.length);
  });
});
