/**
 * The sample of each input file, derived from its name: the two files of a read pair (`gut_R1.fastq.gz` and
 * `gut_R2.fastq.gz`, `gut_1.fq` and `gut_2.fq`, with or without `_001`) in one folder are one sample, and
 * every other file is a sample of its own. Returns a name per path; samples from several folders never share
 * one. Uploaded files belong to the folder that they were sent from, although each is stored in a folder of
 * its own.
 */
export function sampleNames(paths: readonly string[]): string[] {
  const files = paths.map(readName);
  const mates = matesOf(paths);
  const groups = files.map((file, i) => {
    const isPaired = mates[i] !== null;
    const name = isPaired ? file.base : file.stem;
    return { name, key: isPaired ? file.pair : file.path, folders: file.folders };
  });
  const names: string[] = groups.map(({ key }) => key);
  let unnamed = [...groups.entries()];
  for (let depth = 0; unnamed.length > 0; depth++) {
    const keys = new Map<string, Set<string>>();
    for (const group of groups) {
      const name = withFolders(group, depth);
      keys.set(name, (keys.get(name) ?? new Set()).add(group.key));
    }
    for (const [index, group] of unnamed) {
      const name = withFolders(group, depth);
      if (keys.get(name)?.size === 1) names[index] = name;
    }
    unnamed = unnamed.filter(([index, { key, folders }]) => names[index] === key && depth < folders.length);
  }
  return names;
}

/** The sender's path of an uploaded file, as far as it was sent. Null for all other files. */
export const sentPath = (path: string): string | null => SENT.exec(path)?.[1] ?? null;

/**
 * For each path, the index of its file among the mates of its read pairs, by their names; null for all other
 * files.
 */
export function matesOf(paths: readonly string[]): (number | null)[] {
  const files = paths.map(readName);
  const places = new Map<string, Map<string, number>>();
  for (const [i, { pair, mate, path }] of files.entries()) {
    const key = `${pair} ${mate ?? ''}`;
    places.set(key, (places.get(key) ?? new Map<string, number>()).set(path, i));
  }
  return files.map(({ pair, mate }) => {
    // If two files were sent under one name, nobody knows which is the mate.
    const [own, other] = ['1', '2']
      .toSorted((one) => (one === mate ? -1 : 1))
      .map((number) => [...(places.get(`${pair} ${number}`)?.values() ?? [])]);
    return mate !== null && own?.length === 1 && other?.length === 1 ? (other[0] ?? null) : null;
  });
}

interface NamedFile {
  path: string;
  folders: string[];
  stem: string;
  /** The stem without the part that distinguishes the mates, and a key that both mates share. */
  base: string;
  pair: string;
  mate: string | null;
}

const ENDINGS = /(\.(fa|fasta|fna|ffn|fas|fq|fastq))?(\.(gz|bgz|bz2|xz|zst))?$/i;
/**
 * Each file that was sent, by a browser or through SSH, is stored in a folder of its own; see `receiveUpload`
 * and `ResumableUploads`.
 */
const SENT = /[\\/]uploads[\\/](?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64})[\\/](.+)$/;
const MATE = /^(?<base>.+?)(?<between>[._-]r?)(?<mate>[12])(?<after>_001)?$/i;

function readName(path: string): NamedFile {
  const parts = path.split(/[\\/]/).filter((part) => part !== '');
  const name = parts.at(-1) ?? path;
  const folders = parts.slice(0, -1);
  const stem = name.replace(ENDINGS, '') || name;
  const found = MATE.exec(stem)?.groups;
  const { base = stem, between = '', mate = null, after = '' } = found ?? {};
  const ownFolders = sentPath(path)?.split(/[\\/]/).slice(0, -1) ?? folders;
  const pair = [...ownFolders, base, between, after].join('\0');
  return { path, folders, stem, base, pair, mate };
}

function withFolders({ name, folders }: { name: string; folders: readonly string[] }, depth: number): string {
  return [...folders.slice(folders.length - Math.min(depth, folders.length)), name].join('/');
}
