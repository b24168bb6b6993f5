/** The last part of a path, of this system or another. */
export const fileName = (path: string) => path.split(/[\\/]/).at(-1) ?? path;
export const folderOf = (path: string) => path.slice(0, Math.max(0, path.length - fileName(path).length - 1));
