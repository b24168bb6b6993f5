/** A file below a dropped folder, with its path from that folder on. */
export interface DroppedFile {
  readonly file: File;
  readonly relativePath: string;
}

/** Everything that was dropped, folders opened; for browser mode, where only files can be sent. */
export async function filesOfDrop(transfer: DataTransfer): Promise<DroppedFile[]> {
  // Entries have to be taken before the first await: the list is emptied after the event.
  const entries = Array.from(transfer.items)
    .map((item) => item.webkitGetAsEntry())
    .filter((entry) => entry !== null);
  if (entries.length === 0) {
    return Array.from(transfer.files, (file) => ({ file, relativePath: file.name }));
  }
  const nested = await Promise.all(entries.map(filesOfEntry));
  return nested.flat();
}

async function filesOfEntry(entry: FileSystemEntry): Promise<DroppedFile[]> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    );
    return [{ file, relativePath: entry.fullPath.replace(/^\//, '') }];
  }
  const children = await childrenOf(entry as FileSystemDirectoryEntry);
  return (await Promise.all(children.map(filesOfEntry))).flat();
}

/** `readEntries` hands out a hundred at a time and an empty list at the end. */
async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const children: FileSystemEntry[] = [];
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (batch.length === 0) return children;
    children.push(...batch);
  }
}
