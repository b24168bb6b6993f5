import { describe, expect, it } from 'vitest';
import { settingsChangeSchema, settingsSchema } from './computer.ts';

describe('a change of settings', () => {
  it('says nothing of the settings that it does not name', () => {
    expect(settingsChangeSchema.parse({ language: 'de' })).toEqual({ language: 'de' });
    expect(settingsChangeSchema.parse({})).toEqual({});
  });

  it('may name every setting', () => {
    const all = settingsSchema.parse({});
    expect(settingsChangeSchema.parse(all)).toEqual(all);
  });
});
