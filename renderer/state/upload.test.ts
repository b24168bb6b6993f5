import { describe, expect, it } from 'vitest';
import { pickDropped } from './upload.ts';

const dropped = (path: string, content: string): File =>
  Object.assign(new File([content], path.split('/').at(-1) ?? path), { relativePath: path });

describe('what is dropped on a browser', () => {
  it('is sent as the engine would take it from a folder, also by its content', async () => {
    const { files, ignored } = await pickDropped([
      dropped('notes.docx', 'named by itself'),
      dropped('data/a.fsa', '>a\nACGT\n'),
      dropped('data/b.seq', '>a\nACGT\n'),
      dropped('data/c.seq', 'LOCUS'),
      dropped('data/.snapshot/d.fa', '>a\nACGT\n'),
      dropped('data/.DS_Store', ''),
    ]);
    expect(files.map(({ name }) => name)).toEqual(['notes.docx', 'a.fsa', 'b.seq']);
    expect(ignored).toEqual(['data/c.seq', 'data/.snapshot/d.fa']);
  });
});
