import js from '@eslint/js';
import reactHooks from 'eslint-plugin-react-hooks';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { mustUseResult } from './build/eslint/mustUseResult.ts';

export default defineConfig(
  globalIgnores([
    'dist',
    'node_modules',
    'python-backend',
    'test-results',
    'playwright-report',
    'screenshots',
    '.stryker-tmp',
  ]),
  js.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked],
    plugins: { local: { rules: { 'must-use-result': mustUseResult } } },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // Numbers in messages are plain to read; what is not, such as an object, stays forbidden.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // `() => emit()` says what it does.
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      'local/must-use-result': 'error',
      'no-console': 'error',
      eqeqeq: 'error',
    },
  },
  {
    // Arrays of numbers by index, in loops that run once per frame: bounds hold by construction, and a check for each
    // number would be more code than the work itself.
    files: ['electron/engine/{store,results,exports}/**/*.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  {
    files: ['{electron,renderer}/**/*.{ts,tsx}'],
    ignores: ['**/*.test.{ts,tsx}', '**/testing/**', 'electron/contract/parseJson.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: "CallExpression[callee.object.name='JSON'][callee.property.name='parse']",
          message: 'What another program wrote is read by electron/contract/parseJson.ts, against a schema.',
        },
      ],
    },
  },
  {
    files: ['electron/**/*.ts'],
    ignores: ['electron/engine/system/replaceFile.ts', '**/*.test.ts', '**/testing/**', '**/benchmarks/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        ...['node:fs', 'node:fs/promises'].map((name) => ({
          name,
          importNames: ['rename', 'renameSync'],
          message: 'On Windows a virus scanner may hold a file open: replaceFile() tries again.',
        })),
      ],
    },
  },
  {
    files: ['electron/engine/**/*.ts'],
    ignores: ['electron/engine/system/here.ts', '**/*.test.ts', '**/testing/**'],
    rules: {
      'no-restricted-properties': [
        'error',
        {
          object: 'process',
          property: 'platform',
          message: 'What differs between systems is in electron/engine/system.',
        },
      ],
    },
  },
  {
    files: ['renderer/**/*.{ts,tsx}'],
    extends: [reactHooks.configs.flat['recommended-latest']],
    // The React compiler, which this rule speaks for, isn't used.
    rules: { 'react-hooks/incompatible-library': 'off' },
  },
  {
    files: ['renderer/**/*.{ts,tsx}'],
    ignores: ['renderer/components/Dialog.tsx'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          name: '@mantine/core',
          importNames: ['Modal'],
          message: 'The Dialog of components/ stays usable if its content cannot be shown.',
        },
      ],
    },
  },
  {
    files: ['**/*.{js,mjs}'],
    languageOptions: { globals: readonly('process', 'setInterval', 'clearInterval') },
  },
  {
    files: ['renderer/public/*.js'],
    languageOptions: { globals: readonly('document', 'localStorage', 'matchMedia') },
  },
);

function readonly(...names) {
  return Object.fromEntries(names.map((name) => [name, 'readonly']));
}
