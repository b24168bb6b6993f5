import { describe, expect, it } from 'vitest';
import { findElectron, missingDisplay } from './electronBinary.ts';

describe('opening in Electron or in the browser', () => {
  it('needs a screen on Linux only', () => {
    expect(missingDisplay({}, 'linux')).toBe('this computer has no screen');
    expect(missingDisplay({ DISPLAY: ':0' }, 'linux')).toBeUndefined();
    expect(missingDisplay({ WAYLAND_DISPLAY: 'wayland-0' }, 'linux')).toBeUndefined();
    expect(missingDisplay({}, 'darwin')).toBeUndefined();
    expect(missingDisplay({}, 'win32')).toBeUndefined();
  });

  it('says why where its program is missing', () => {
    expect(findElectron({ ELECTRON_OVERRIDE_DIST_PATH: '/nowhere' })).toEqual({
      found: false,
      reason: 'the Electron program is not on this computer',
    });
  });
});
