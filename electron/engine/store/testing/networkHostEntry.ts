/** Entry of a store thread that treats every folder as one on a network disk. */
import { registerHooks } from 'node:module';

registerHooks({
  load(url, context, nextLoad) {
    if (!url.endsWith('/networkFileSystem.ts')) return nextLoad(url, context);
    return { format: 'module', source: `export const networkFileSystem = () => 'nfs';`, shortCircuit: true };
  },
});

await import('../hostEntry.ts');
