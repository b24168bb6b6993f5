/** What the command line's first line sets for its own process. */
export const MEMORY_SETTING = {
  /** Else glibc keeps what each of the store's threads has given back for that thread alone, 60 MB in a run of a million reads. */
  environment: { MALLOC_ARENA_MAX: '2' },
  /** In MB. What a run makes and forgets, V8 would otherwise let grow to 67 MB in a run of ten million reads before it looks what is still
   * in use: 4 MB of which are. */
  nodeFlags: ['--max-semi-space-size=4'],
} as const;

/** As `env -S` reads it. */
export function memorySettingLine(): string {
  const { environment, nodeFlags } = MEMORY_SETTING;
  return [
    ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
    'node',
    ...nodeFlags,
  ].join(' ');
}
