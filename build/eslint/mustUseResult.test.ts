import { join } from 'node:path';
import { RuleTester } from 'eslint';
import tseslint from 'typescript-eslint';
import { describe, it } from 'vitest';
import { mustUseResult } from './mustUseResult.ts';

RuleTester.describe = describe;
RuleTester.it = (name: string, test: () => void) => {
  it(name, test);
};

const tester = new RuleTester({
  languageOptions: {
    parser: tseslint.parser,
    parserOptions: {
      // A separate project, without the thousand files of this one.
      projectService: { allowDefaultProject: ['*.ts'], defaultProject: 'tsconfig.json' },
      tsconfigRootDir: join(import.meta.dirname, 'testing'),
    },
  },
});

const given = (code: string): string => `
  type Result<Value> = { readonly ok: true; value: Value } | { readonly ok: false; error: string };
  declare function pause(): Promise<Result<void>>;
  declare function check(): Result<number>;
  declare function response(): { ok: boolean };
  declare function use(result: Result<unknown>): void;
  declare const session: { pause(): Promise<Result<void>> } | undefined;
  async function work() { ${code} }`;
const errors = [{ messageId: 'dropped' }];

tester.run('must-use-result', mustUseResult, {
  valid: [
    'const { ok } = check(); return ok;',
    'use(await pause());',
    'void pause().then(use);',
    'return pause();',
    'response();',
    'let last = check(); last = check(); use(last);',
    'if (check().ok) use(check());',
  ].map(given),
  invalid: [
    'check();',
    'await pause();',
    'void pause();',
    'await session?.pause();',
    'pause().catch(() => undefined);',
    'const later = () => void pause(); later();',
  ].map((code) => ({ code: given(code), errors })),
});
