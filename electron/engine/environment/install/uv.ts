/**
 * uv, which provides Python and installs packages: where it is, how a checkout gets it, and how it is
 * started.
 */
import { chmodSync, cpSync, existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { err, ok, type Result, failWith } from '../../../contract/errors.ts';
import { hashFile } from '../../system/hashFile.ts';
import { replaceFile } from '../../system/replaceFile.ts';
import { HERE, KIND_HERE } from '../../system/here.ts';
import type { AppPaths } from '../appPaths.ts';
import { SUPPORTED_VERSIONS } from '../machine.ts';
import { scrubbedEnvironment } from '../pythonLaunch.ts';
import type { CommandRunner } from '../runCommand.ts';
import { installerFailure } from './failures.ts';

/** The release of uv that this program works with. */
export const UV_VERSION = '0.13.9';

interface UvKind {
  /** SHA-256 of the executable in the wheel of that release. */
  readonly program: string;
  readonly platform: string;
}

/** The platforms that the program runs on, by Node's names of system and processor. */
export const UV_KINDS = {
  'linux-x64': {
    program: 'b73acdf73b96c3ac9e56d2fa933427b3ee6a901e3cce6ba1e3ecb3f91ca0d86a',
    platform: 'x86_64-manylinux_2_28',
  },
  'linux-arm64': {
    program: '6109e47a75f2380d1cc90b00a6ee82b7b5792ddf66588625ec168545ae17512e',
    platform: 'aarch64-manylinux_2_28',
  },
  'darwin-arm64': {
    program: '0e17c316d23b33b4e840669f516f5cb7f5c1faa816ebd3824052ab50082ecefb',
    platform: 'aarch64-apple-darwin',
  },
  'win32-x64': {
    program: '7e6349bc24cfc7249f892c41298e4371826a19008c3cbcfe13eacd08ac398470',
    platform: 'x86_64-pc-windows-msvc',
  },
} as const satisfies Record<string, UvKind>;
type UvPlatform = keyof typeof UV_KINDS;

/** A platform such as `linux-x64`; null if the program does not run on it. */
export function knownKind(kind: string = KIND_HERE): UvPlatform | null {
  const kinds = Object.keys(UV_KINDS) as UvPlatform[];
  return kinds.find((name) => name === kind) ?? null;
}

export function uvFileName(kind: string): string {
  return kind.startsWith('win32') ? 'uv.exe' : 'uv';
}

/** The folder in which a checkout keeps the uv for a platform. */
export function fetchedUvFolder(root: string, kind: string): string {
  return join(root, 'dist', 'uv', `${UV_VERSION}-${kind}`);
}

/** An installed program has uv beside its resources; a checkout has it where it was downloaded to. */
export function findUv({ root }: Pick<AppPaths, 'root'>): string | undefined {
  const folders = [join(root, 'uv'), fetchedUvFolder(root, KIND_HERE)];
  return folders.map((folder) => join(folder, uvFileName(KIND_HERE))).find((file) => existsSync(file));
}

export interface FetchUv {
  readonly run: CommandRunner;
  readonly env: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
}

/** Downloads the uv for this computer with the pip of any Python: only a checkout comes without uv. */
export async function fetchOwnUv(
  { root }: Pick<AppPaths, 'root'>,
  request: FetchUv,
): Promise<Result<string>> {
  const kind = knownKind();
  if (kind === null)
    return failWith('computer_unsupported', `The program is not made for ${KIND_HERE} computers.`);
  const env = scrubbedEnvironment(request.env);
  const pythons = kind.startsWith('win32') ? ['py', 'python'] : ['python3', 'python'];
  for (const python of pythons) {
    const asked = await request.run({ file: python, args: ['-m', 'pip', '--version'], env });
    if (asked.ending !== 'succeeded') continue;
    const pip = ['-m', 'pip', 'install', '--disable-pip-version-check', '--no-input'];
    return fetchUv(kind, fetchedUvFolder(root, kind), { ...request, file: python, args: pip, env });
  }
  return failWith(
    'python_missing',
    'uv, which installs Python and its packages, is not there, and no pip to fetch it with.',
    {
      nextStep: 'Install Python with pip (python3-pip on Debian and Ubuntu), then start again.',
    },
  );
}

/** Downloads the uv for another platform, with the uv of this computer. */
export function fetchOtherUv(
  kind: UvPlatform,
  folder: string,
  { paths, uv, ...request }: FetchUv & { paths: Pick<AppPaths, 'dataDir'>; uv: string },
): Promise<Result<string>> {
  const args = ['pip', 'install', '--python-platform', UV_KINDS[kind].platform];
  return fetchUv(kind, folder, {
    ...request,
    file: uv,
    args,
    env: uvEnvironment(paths, request.env, 'short'),
  });
}

/**
 * Installs the wheel of uv into a temporary place and keeps its executable, if it is the published one, and
 * its licences.
 */
async function fetchUv(
  kind: UvPlatform,
  folder: string,
  {
    run,
    file,
    args,
    env,
    signal,
  }: FetchUv & { file: string; args: readonly string[]; env: Record<string, string> },
): Promise<Result<string>> {
  const work = await mkdtemp(join(tmpdir(), 'uv-'));
  try {
    const outcome = await run({
      file,
      args: [...args, '--no-deps', '--only-binary=:all:', '--target', work, `uv==${UV_VERSION}`],
      env,
      signal,
    });
    if (outcome.ending !== 'succeeded') return err(installerFailure(outcome));
    const name = uvFileName(kind);
    const fetched = join(work, 'bin', name);
    if ((await hashFile(fetched)) !== UV_KINDS[kind].program) {
      return failWith('python_broken', 'The uv that was fetched is not the published one.', {
        nextStep: 'Check which mirror is entered under Settings, then start again.',
      });
    }
    await mkdir(folder, { recursive: true });
    cpSync(join(work, `uv-${UV_VERSION}.dist-info`, 'licenses'), folder, { recursive: true });
    const program = join(folder, name);
    await copyFile(fetched, `${program}.tmp`);
    chmodSync(`${program}.tmp`, 0o755);
    replaceFile(`${program}.tmp`, program);
    return ok(program);
  } finally {
    await rm(work, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Settings of the user's own uv that also apply here: package sources and network access. */
const KEPT = new Set(
  [
    'DEFAULT_INDEX',
    'INDEX',
    'INDEX_URL',
    'EXTRA_INDEX_URL',
    'FIND_LINKS',
    'PYTHON',
    'PYTHON_INSTALL_MIRROR',
    'PYTHON_DOWNLOADS_JSON_URL',
    'INSECURE_HOST',
    'KEYRING_PROVIDER',
    'OFFLINE',
  ].map((name) => `UV_${name}`),
);
/** Settings of where packages come from. */
export const INDEX_SETTINGS = [
  ...['UV_DEFAULT_INDEX', 'UV_INDEX', 'UV_INDEX_URL', 'UV_EXTRA_INDEX_URL'],
  ...['PIP_INDEX_URL', 'PIP_EXTRA_INDEX_URL'],
];

/** Those that are set, without names and passwords. */
export function indexSettings(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    INDEX_SETTINGS.flatMap((name) => {
      const value = env[name]?.replaceAll(/(?<=:\/\/)[^\s/@]+@/g, '');
      return value ? [[name, value]] : [];
    }),
  );
}

/** pip's names of the same settings, since mirrors are more often configured for pip. */
const SAME_FOR_PIP = {
  PIP_INDEX_URL: 'UV_DEFAULT_INDEX',
  PIP_EXTRA_INDEX_URL: 'UV_INDEX',
  PIP_FIND_LINKS: 'UV_FIND_LINKS',
  PIP_CERT: 'SSL_CERT_FILE',
} as const;

/**
 * How long to wait for a server that does not answer: briefly in the step that shows whether there is a
 * network at all.
 */
export type Patience = 'short' | 'long';

export function uvEnvironment(
  paths: Pick<AppPaths, 'dataDir'>,
  inherited: NodeJS.ProcessEnv,
  patience: Patience,
): Record<string, string> {
  const env = Object.fromEntries(
    Object.entries(scrubbedEnvironment(inherited)).filter(
      ([name]) => !name.startsWith('UV_') || KEPT.has(name),
    ),
  );
  for (const [pip, uv] of Object.entries(SAME_FOR_PIP)) {
    const value = env[pip];
    if (value !== undefined && value !== '') env[uv] ??= value;
  }
  const path = env['PATH'];
  return {
    ...env,
    ...(path !== undefined && HERE.platform === 'darwin' && { PATH: searchPathOnMac(path) }),
    UV_CACHE_DIR: uvCache(paths),
    UV_PYTHON_CACHE_DIR: join(uvCache(paths), 'pythons'),
    UV_PYTHON_INSTALL_DIR: join(uvFolder(paths), 'python'),
    // Nothing is visible outside the data folder: no command in the PATH, no entry in the Windows registry.
    UV_PYTHON_INSTALL_BIN: '0',
    UV_PYTHON_INSTALL_REGISTRY: '0',
    UV_NO_CONFIG: '1',
    UV_NO_PROGRESS: '1',
    // Trusts the computer's certificate authorities, including an institute's own.
    UV_SYSTEM_CERTS: '1',
    UV_HTTP_TIMEOUT: patience === 'short' ? '15' : '60',
    UV_HTTP_RETRIES: patience === 'short' ? '1' : '5',
    NO_COLOR: '1',
  };
}

/**
 * Programs started from the Finder lack the folders of Homebrew and python.org in their PATH. Without Apple's
 * developer tools, python3 and install_name_tool in /usr/bin are stubs that open a dialog which offers the
 * tools.
 */
function searchPathOnMac(path: string): string {
  const tools = [
    '/var/db/xcode_select_link',
    '/Library/Developer/CommandLineTools',
    '/Applications/Xcode.app',
  ];
  const hasTools = tools.some((place) => existsSync(place));
  const pythonOrg = SUPPORTED_VERSIONS.map(
    (version) => `/Library/Frameworks/Python.framework/Versions/${version}/bin`,
  );
  return [...path.split(':'), '/opt/homebrew/bin', '/usr/local/bin', ...pythonOrg]
    .filter((folder) => hasTools || !/^\/usr\/bin\/?$/.test(folder))
    .join(':');
}

/**
 * Wheels being downloaded for the environment. They remain after an interrupted set-up, so that it can
 * continue where it stopped.
 */
export function uvCache(paths: Pick<AppPaths, 'dataDir'>): string {
  return join(uvFolder(paths), 'cache');
}

/** The folder in the data folder for the Python that uv has installed, and for uv's cache. */
export function uvFolder(paths: Pick<AppPaths, 'dataDir'>): string {
  return join(paths.dataDir, 'uv');
}
