/** Settings that the shebang line of the command line makes for its own process. */
export const MEMORY_SETTING = {
  /**
   * Otherwise glibc keeps the memory that each of the store's threads has freed for that thread alone, 60 MB
   * in a run of a million reads.
   */
  environment: { MALLOC_ARENA_MAX: '2' },
  /**
   * In MB. Otherwise V8 lets short-lived objects grow to 67 MB in a run of ten million reads before it
   * collects them; only 4 MB are in use.
   */
  nodeFlags: ['--max-semi-space-size=4'],
} as const;

/** The setting in the form that `env -S` reads. */
export function memorySettingLine(): string {
  const { environment, nodeFlags } = MEMORY_SETTING;
  return [
    ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
    'node',
    ...nodeFlags,
  ].join(' ');
}
