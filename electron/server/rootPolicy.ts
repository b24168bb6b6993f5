import { appError } from '../contract/errors.ts';
import { message } from '../contract/messages.ts';
import { isInside, type PathPolicy, realPath } from '../engine/index.ts';

/**
 * A window in a browser may name only paths below the root that the server was started with, with links
 * resolved.
 */
export async function rootPolicy(root: string): Promise<PathPolicy> {
  const realRoot = await realPath(root);
  return {
    root: realRoot,
    allows: async (path) => isInside(realRoot, await realPath(path)),
    refusal: (path) =>
      appError('input_unreadable', message('start.outside_root', { path, root: realRoot }), {
        nextStep: message('start.outside_root.next'),
      }),
  };
}
