import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createMemoryEngine } from '../../testing/memoryEngine/index.ts';
import { memoryTransport } from '../../testing/memoryLink.ts';
import { connectionStore, startConnection } from '../connection.ts';
import { sentFraction, type uploadFile } from '../upload.ts';
import { addPaths, choose, removeFiles, setRepair, startOver, uploadAndAdd, useNewRun } from './store.ts';

describe('files of a new run', () => {
  let close: () => void;
  beforeEach(async () => {
    startOver();
    choose({ repairs: [] });
    close = startConnection(memoryTransport(createMemoryEngine({ runs: 'none' })));
    await vi.waitFor(() => expect(connectionStore.getState().status).toBe('connected'));
  });
  afterEach(() => close());

  it('are sent with one bar that only grows, by bytes, and that disappears with the last of them', async () => {
    const send: typeof uploadFile = (file, onProgress) => {
      onProgress(0.5);
      return file.name === 'broken.fa'
        ? Promise.reject(new Error('cut'))
        : Promise.resolve(`/u/${file.name}`);
    };
    const seen: number[] = [];
    const stop = useNewRun.subscribe(({ uploads }) => {
      if (uploads.length > 0) seen.push(sentFraction(uploads));
    });
    const sizes = { 'a.fa': 10, 'broken.fa': 10, 'b.fa': 80 };
    const files = Object.entries(sizes).map(([name, size]) => new File(['A'.repeat(size)], name));
    await uploadAndAdd(files, send);
    stop();
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(new Set(seen.map((share) => share.toFixed(2)))).toEqual(
      new Set(['0.00', '0.05', '0.10', '0.15', '0.20', '0.60']),
    );
    expect(useNewRun.getState()).toMatchObject({
      uploads: [],
      files: [{ path: '/u/a.fa' }, { path: '/u/b.fa' }],
    });
  });

  it('are restored as they were, or inspected again if they are now read differently', async () => {
    await addPaths(['/d/a.fa', '/d/b.fa']);
    const { files } = useNewRun.getState();
    removeFiles(['/d/b.fa'])();
    expect(useNewRun.getState().files).toEqual(files);
    const undo = removeFiles(['/d/b.fa']);
    setRepair('read_u_as_t', true);
    undo();
    // The earlier inspection belonged to another way of reading.
    expect(useNewRun.getState().files.every(({ inspected }) => inspected !== files[1]?.inspected)).toBe(true);
    await vi.waitFor(() => expect(useNewRun.getState().files).toHaveLength(2));
  });
});
