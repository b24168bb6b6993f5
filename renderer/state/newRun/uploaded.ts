/** The program's folder for files that a browser has sent: each in a folder of its own, which tells nobody anything. */
export const isUploaded = (path: string) =>
  /[\\/]uploads[\\/][0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}[\\/]/.test(path);
