/**
 * An AppImage is mounted at another path at each start, so its own file must be started again. The variables are inherited by every program
 * that is started from an AppImage, so they count only where this program lies in the mounted folder.
 */
export function appImageFile(env: NodeJS.ProcessEnv, program = process.execPath): string | undefined {
  const { APPDIR: mounted, APPIMAGE: file } = env;
  return file && mounted && program.startsWith(`${mounted.replace(/\/+$/, '')}/`) ? file : undefined;
}

/**
 * The search paths that the AppImage has put its own folder into, without it, so that Python, uv and ssh find the system's libraries and
 * programs.
 */
export function pathsOutsideAppImage(
  env: NodeJS.ProcessEnv,
  program = process.execPath,
): Record<string, string> {
  const mounted = env['APPDIR']?.replace(/\/+$/, '');
  if (mounted === undefined || appImageFile(env, program) === undefined) return {};
  const inside = (path: string): boolean => path === mounted || path.startsWith(`${mounted}/`);
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value = '']) => {
      const paths = value.split(':');
      if (!/(^|_)(PATH|DIRS)$/.test(name) || !paths.some(inside)) return [];
      // An empty entry would mean the current folder.
      return [[name, paths.filter((path) => path !== '' && !inside(path)).join(':')]];
    }),
  );
}
