import { execFileSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { createGzip, gzipSync } from 'node:zlib';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { RANDOM_MODEL } from '../../electron/engine/testing/realFiles.ts';

/** A file or folder from somebody else, and the commands that a user would run with it. */
export interface HostileFile {
  name: string;
  /** Creates it in an empty folder; `run` is a finished run of the user's own. */
  make: (folder: string, run: string) => Promise<readonly (readonly string[])[]>;
}

/** Every file that can hold a pickle is tried as weights and as embeddings of the original tool. */
function pickled(name: string, write: (path: string) => void | Promise<void>): HostileFile[] {
  return [
    {
      name: `${name}, as weights`,
      make: async (folder) => {
        const file = join(folder, '500_model.pth');
        await write(file);
        return [['models', 'import', file, '--name', 'theirs', '--chunk-length', '500']];
      },
    },
    {
      name: `${name}, as embeddings of the original tool`,
      make: async (folder) => {
        const legacy = join(folder, 'theirs');
        mkdirSync(join(legacy, 'theirs_nucleotide'), { recursive: true });
        mkdirSync(join(legacy, 'theirs_protein'));
        const input = join(folder, 'theirs.fa');
        writeFileSync(input, `>a\n${'ACGTTGCAAC'.repeat(60)}\n`);
        writeFileSync(
          join(legacy, 'theirs_identified_nucleotide.fa'),
          `>a_chunk_1F1\n${'ACGTTGCAAC'.repeat(50)}\n`,
        );
        writeFileSync(join(legacy, 'theirs_identified_protein.faa'), `>a_chunk_1F1\n${'MKV'.repeat(50)}\n`);
        await write(join(legacy, 'theirs_nucleotide', 'output_0_DNABERT_S.pt'));
        await write(join(legacy, 'theirs_protein', 'output_0_ESM.pt'));
        return [
          [
            'import-legacy',
            legacy,
            input,
            '--model',
            'teaching',
            '-o',
            join(folder, 'out'),
            '--devices',
            'cpu',
          ],
        ];
      },
    },
  ];
}

async function zipped(path: string, pickle: Buffer): Promise<void> {
  const zip = new ZipFile();
  zip.addBuffer(pickle, 'archive/data.pkl');
  zip.addBuffer(Buffer.from('3\n'), 'archive/version');
  zip.end();
  await finished(zip.outputStream.pipe(createWriteStream(path)));
}

const call = (module: string, name: string, argument: string): string =>
  `c${module}\n${name}\n(S'${argument}'\ntR.`;
const TOUCH = '"$TRIPWIRE" pickle';

/** Ways in which unpickling could execute something. */
const EXECUTING: readonly (readonly [string, string])[] = [
  ['os.system', call('os', 'system', TOUCH)],
  ['posix.system', call('posix', 'system', TOUCH)],
  ['subprocess.getoutput', call('subprocess', 'getoutput', TOUCH)],
  ['builtins.eval', call('builtins', 'eval', `__import__("os").system(${JSON.stringify(TOUCH)})`)],
  ['builtins.exec', call('builtins', 'exec', `import os; os.system(${JSON.stringify(TOUCH)})`)],
  ['an instance (INST)', `(S'${TOUCH}'\nios\nsystem\n.`],
  ['an object (OBJ)', `(cos\nsystem\nS'${TOUCH}'\no.`],
  ['torch.load', call('torch', 'load', '/dev/zero')],
];

const REPEATED_OPCODES = Buffer.concat([
  Buffer.from('(', 'latin1'),
  Buffer.alloc(40_000_000, '}'),
  Buffer.from('l.'),
]);
const DEEP_TUPLE = Buffer.concat([
  Buffer.from('\x80\x02', 'latin1'),
  Buffer.alloc(300_000, ')'),
  Buffer.alloc(300_000, '\x85'),
  Buffer.from('.'),
]);

function pipe(path: string): string {
  execFileSync('mkfifo', [path]);
  return path;
}

/** `megabytes` of one letter, compressed to a few kilobytes. */
async function oneLine(path: string, megabytes: number, before = ''): Promise<void> {
  const gzip = createGzip();
  const end = finished(gzip.pipe(createWriteStream(path)));
  gzip.write(before);
  const block = Buffer.alloc(2 ** 20, 'A');
  for (let i = 0; i < megabytes; i++)
    if (!gzip.write(block)) await new Promise((done) => gzip.once('drain', done));
  gzip.end('\n');
  await end;
}

/** Another tool's table that is added to the user's own run. */
function table(name: string, file: string, write: (path: string) => void | Promise<void>): HostileFile {
  return {
    name: `a table of another tool: ${name}`,
    make: async (folder, run) => {
      const path = join(folder, file);
      await write(path);
      return [['results', run, '--with', path]];
    },
  };
}

/** The folder of a model from somebody else. */
function model(
  name: string,
  change: (folder: string, description: Record<string, unknown>) => void,
): HostileFile {
  return {
    name: `a model's folder: ${name}`,
    make: async (folder) => {
      const theirs = join(folder, 'theirs');
      cpSync(RANDOM_MODEL, theirs, { recursive: true });
      const path = join(theirs, 'model.json');
      const description = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
      change(theirs, description);
      writeFileSync(path, JSON.stringify(description));
      const input = join(folder, 'own.fa');
      writeFileSync(input, `>a\n${'ACGTTGCAAC'.repeat(60)}\n`);
      return Promise.resolve([
        ['predict', input, '--model', theirs, '-o', join(folder, 'out'), '--devices', 'cpu'],
      ]);
    },
  };
}

function input(name: string, write: (path: string) => void | Promise<void>): HostileFile {
  return {
    name: `an input: ${name}`,
    make: async (folder) => {
      const path = join(folder, 'theirs.fa');
      await write(path);
      return [
        ['validate', path],
        ['predict', path, '--model', 'teaching', '-o', join(folder, 'out'), '--devices', 'cpu'],
      ];
    },
  };
}

const WEIGHTS: HostileFile[] = [
  ...EXECUTING.flatMap(([name, text]) => [
    ...pickled(`a pickle that calls ${name}`, (path) => {
      writeFileSync(path, text);
    }),
    ...pickled(`a zipped pickle that calls ${name}`, (path) => zipped(path, Buffer.from(text))),
  ]),
  ...pickled('a pickle of 40 million opcodes', (path) => zipped(path, REPEATED_OPCODES)),
  ...pickled('a pickle 300,000 levels deep', (path) => zipped(path, DEEP_TUPLE)),
  {
    name: 'safetensors with a header of 67 MB',
    make: async (folder) => {
      const file = join(folder, 'model.safetensors');
      const header = Buffer.from(
        `{${Array.from({ length: 900_000 }, (_, i) => `"${i}":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}`).join()}}`,
      );
      const length = Buffer.alloc(8);
      length.writeBigUInt64LE(BigInt(header.length));
      writeFileSync(file, Buffer.concat([length, header]));
      return Promise.resolve([['models', 'import', file, '--name', 'theirs', '--chunk-length', '500']]);
    },
  },
  {
    name: 'safetensors whose header says 2^62 bytes',
    make: async (folder) => {
      const file = join(folder, 'model.safetensors');
      const length = Buffer.alloc(64);
      length.writeBigUInt64LE(2n ** 62n);
      writeFileSync(file, length);
      return Promise.resolve([['models', 'import', file, '--name', 'theirs', '--chunk-length', '500']]);
    },
  },
  model('300,000 layers', (_, description) => {
    description['esm2'] = { ...(description['esm2'] as object), layers: 300_000 };
  }),
  model('a file outside of it', (_, description) => {
    const files = description['files'] as Record<string, object>;
    files['head'] = { ...files['head'], path: '/etc/passwd' };
  }),
  model('weights that are a link to a device', (folder) => {
    execFileSync('rm', [join(folder, '500_model.pth')]);
    symlinkSync('/dev/zero', join(folder, '500_model.pth'));
  }),
];

const LEGACY: HostileFile[] = [
  ...(['pipe', 'device', 'deep'] as const).map((kind): HostileFile => ({
    name: `a folder of the original tool whose state file is ${{ pipe: 'a pipe', device: 'a device', deep: '100,000 levels deep' }[kind]}`,
    make: async (folder) => {
      const legacy = join(folder, 'theirs');
      mkdirSync(join(legacy, '.checkpoints'), { recursive: true });
      const state = join(legacy, '.checkpoints', 'pipeline_state.json');
      if (kind === 'pipe') pipe(state);
      else if (kind === 'device') symlinkSync('/dev/zero', state);
      else writeFileSync(state, '['.repeat(100_000));
      const own = join(folder, 'theirs.fa');
      writeFileSync(own, `>a\n${'ACGTTGCAAC'.repeat(60)}\n`);
      return Promise.resolve([
        ['import-legacy', legacy, own, '--model', 'teaching', '-o', join(folder, 'out')],
      ]);
    },
  })),
];

const TABLES: HostileFile[] = [
  table('a pipe', 'theirs.tsv', (path) => void pipe(path)),
  table('one line of 3 GB in 3 MB', 'theirs.tsv.gz', (path) => oneLine(path, 3000)),
  table('a header and a line of 1 GB', 'theirs.tsv.gz', (path) =>
    oneLine(path, 1000, 'name\tscore\tpvalue\n'),
  ),
  table('6,000 names of 1 MB', 'theirs.tsv.gz', async (path) => {
    const gzip = createGzip();
    const end = finished(gzip.pipe(createWriteStream(path)));
    gzip.write('name\tlen\tscore\tpvalue\n');
    for (let i = 0; i < 6000; i++)
      if (!gzip.write(`${i}${'x'.repeat(1_000_000)}\t1\t0.5\t0.1\n`))
        await new Promise((done) => gzip.once('drain', done));
    gzip.end();
    await end;
  }),
  table('20 million lines without a name', 'theirs.tsv.gz', (path) => {
    const line = '\t1\t0.5\t0.1\n';
    writeFileSync(path, gzipSync(`name\tlen\tscore\tpvalue\n${line.repeat(20_000_000)}`, { level: 1 }));
  }),
  table('formulas', 'theirs.tsv', (path) => {
    writeFileSync(path, 'name\tlen\tscore\tpvalue\n=cmd|calc\t1\t=1+1\t@x\n');
  }),
];

const NAMES = [
  '=1+1',
  '+1+1',
  '@SUM(A1)',
  '-2+3',
  'a;=1+1',
  'a,=1+1',
  '../../etc/passwd',
  'CON',
  '<img src=x onerror=alert(1)>',
  '\u202Efdp.exe',
  'a\u001B[2Jb',
  '__proto__',
  "'); DROP TABLE chunk;--",
];

const INPUTS: HostileFile[] = [
  input('a pipe', (path) => void pipe(path)),
  input('a link to a device', (path) => {
    symlinkSync('/dev/zero', path);
  }),
  input('a header of 10 MB', (path) => {
    writeFileSync(path, `>${'x'.repeat(10_000_000)}\nACGT\n`);
  }),
  input('names that mean something to a spreadsheet, a browser or a terminal', (path) => {
    writeFileSync(path, NAMES.map((name) => `>${name}\n${'ACGTTGCAAC'.repeat(60)}\n`).join(''));
  }),
  input('20 GB of nothing', (path) => {
    const file = openSync(path, 'w');
    writeSync(file, '\0', 20 * 2 ** 30);
    closeSync(file);
  }),
];

const OFFLINE: HostileFile[] = [
  {
    name: 'an offline folder whose uv is a script',
    make: async (folder) => {
      const theirs = join(folder, 'offline');
      mkdirSync(join(theirs, 'uv'), { recursive: true });
      const uv = join(theirs, 'uv', 'uv');
      writeFileSync(uv, '#!/bin/sh\n"$TRIPWIRE" uv\n', { mode: 0o755 });
      const content = readFileSync(uv);
      writeFileSync(
        join(theirs, 'virnucpro-offline.json'),
        JSON.stringify({
          schema: 1,
          files: [
            {
              path: 'uv/uv',
              size: content.length,
              sha256: createHash('sha256').update(content).digest('hex'),
            },
          ],
        }),
      );
      return Promise.resolve([['setup', '--from', theirs]]);
    },
  },
];

export const HOSTILE_FILES: readonly HostileFile[] = [
  ...WEIGHTS,
  ...LEGACY,
  ...TABLES,
  ...INPUTS,
  ...OFFLINE,
];
