import { win32 } from 'node:path';
import { expect, it } from 'vitest';
import { asAppError } from '../../../contract/errors.ts';
import { madeSystem } from '../../system/testing/madeSystem.ts';
import { temporaryFolder } from '../../testing/testContext.ts';
import { checkSetUp } from './computerCheck.ts';

const noInterpreter = { tryInterpreter: () => Promise.reject(new Error('not asked for')) };
const windows = madeSystem('win32');

it('refuses a data folder from which Windows could not open all of PyTorch, and never the default one', async () => {
  // The longest account name that Windows allows.
  const own = windows.dataFolder({}, win32.join('C:\\Users', 'x'.repeat(20)));
  const folder = temporaryFolder();
  const fits = folder.padEnd(own.length, '/x');
  await expect(checkSetUp({ dataFolder: fits }, noInterpreter, windows)).resolves.toBeUndefined();
  const deep = `${fits}y`;
  await expect(checkSetUp({ dataFolder: deep }, noInterpreter)).resolves.toBeUndefined();
  const refusal = await checkSetUp({ dataFolder: deep }, noInterpreter, windows).catch(asAppError);
  expect(refusal).toMatchObject({
    code: 'usage',
    wording: { cause: { key: 'place.too_long', values: { length: own.length + 1, most: own.length } } },
  });
});
