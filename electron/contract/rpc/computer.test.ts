import { describe, expect, it } from 'vitest';
import { settingsChangeSchema, settingsSchema } from './computer.ts';

describe('a change of settings', () => {
  it('contains only the settings that it names', () => {
    expect(settingsChangeSchema.parse({ language: 'de' })).toEqual({ language: 'de' });
    expect(settingsChangeSchema.parse({})).toEqual({});
  });

  it('can name every setting', () => {
    const all = settingsSchema.parse({});
    expect(settingsChangeSchema.parse(all)).toEqual(all);
  });
});
