import { appError } from '../contract/errors.ts';
import { isInside, type PathPolicy, realPath } from '../engine/index.ts';

/** A window in a browser may name only what lies below the root that the server was started with, links resolved. */
export async function rootPolicy(root: string): Promise<PathPolicy> {
  const realRoot = await realPath(root);
  return {
    root: realRoot,
    allows: async (path) => isInside(realRoot, await realPath(path)),
    refusal: (path) =>
      appError('input_unreadable', `${path} is outside of ${realRoot}.`, {
        nextStep: 'Choose something inside, or start the server with another --root.',
      }),
  };
}
