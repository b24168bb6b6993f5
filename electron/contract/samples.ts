/**
 * Which sample each input file belongs to, as its name says: the two files of a read pair (`gut_R1.fastq.gz` and
 * `gut_R2.fastq.gz`, `gut_1.fq` and `gut_2.fq`, with or without `_001`) in one folder are one sample, every other file is one
 * of its own. Answers with a name per path; samples from several folders never share one.
 */
export function sampleNames(paths: readonly string[]): string[] {
  const files = paths.map(readName);
  const mates = new Set(files.map(({ pair, mate }) => `${pair} ${mate ?? ''}`));
  const groups = files.map((file) => {
    const isPaired = file.mate !== null && mates.has(`${file.pair} ${file.mate === '1' ? '2' : '1'}`);
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

interface NamedFile {
  path: string;
  folders: string[];
  stem: string;
  /** The stem without what tells the mates apart, and a key that both mates share. */
  base: string;
  pair: string;
  mate: string | null;
}

const ENDINGS = /(\.(fa|fasta|fna|ffn|fas|fq|fastq))?(\.(gz|bgz|bz2|xz|zst))?$/i;
const MATE = /^(?<base>.+?)(?<between>[._-]r?)(?<mate>[12])(?<after>_001)?$/i;

function readName(path: string): NamedFile {
  const parts = path.split(/[\\/]/).filter((part) => part !== '');
  const name = parts.at(-1) ?? path;
  const folders = parts.slice(0, -1);
  const stem = name.replace(ENDINGS, '') || name;
  const found = MATE.exec(stem)?.groups;
  const { base = stem, between = '', mate = null, after = '' } = found ?? {};
  return { path, folders, stem, base, pair: [...folders, base, between, after].join('\0'), mate };
}

function withFolders({ name, folders }: { name: string; folders: readonly string[] }, depth: number): string {
  return [...folders.slice(folders.length - Math.min(depth, folders.length)), name].join('/');
}
