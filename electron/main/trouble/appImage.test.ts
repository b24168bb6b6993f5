import { expect, it } from 'vitest';
import { appImageFile, pathsOutsideAppImage } from './appImage.ts';

const program = '/tmp/.mount_Vir1/virnucpro-desktop';
const env = {
  APPDIR: '/tmp/.mount_Vir1',
  APPIMAGE: '/home/anna/VirNucPro.AppImage',
  PATH: '/tmp/.mount_Vir1:/tmp/.mount_Vir1/usr/sbin:/usr/local/bin:/usr/bin',
  LD_LIBRARY_PATH: '/tmp/.mount_Vir1/usr/lib:',
  XDG_DATA_DIRS: '/tmp/.mount_Vir1/usr/share/:/usr/share',
  HOME: '/home/anna',
};

it('starts the AppImage again, but not the one from whose terminal another program was started', () => {
  expect(appImageFile(env, program)).toBe('/home/anna/VirNucPro.AppImage');
  expect(appImageFile({ ...env, APPDIR: '/tmp/.mount_Vir1/' }, program)).toBe(env.APPIMAGE);
  for (const other of ['/opt/VirNucPro Desktop/virnucpro-desktop', '/tmp/.mount_Vir12/virnucpro-desktop']) {
    expect(appImageFile(env, other)).toBeUndefined();
    expect(pathsOutsideAppImage(env, other)).toEqual({});
  }
  expect(appImageFile({}, program)).toBeUndefined();
});

it('hides its mounted folder from the programs that it starts', () => {
  expect(pathsOutsideAppImage(env, program)).toEqual({
    PATH: '/usr/local/bin:/usr/bin',
    LD_LIBRARY_PATH: '',
    XDG_DATA_DIRS: '/usr/share',
  });
});
