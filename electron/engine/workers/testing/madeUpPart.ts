import type { PartCommand } from '../../../contract/protocol/index.ts';

/** A part for made-up workers, which open no file. */
export const MADE_UP_PART: PartCommand = {
  type: 'part',
  part: '000001',
  part_path: '/p',
  part_sha256: '0'.repeat(64),
  frame_begin: 0,
  frame_end: 1,
  scores_path: '/s',
  embeddings_path: null,
};
