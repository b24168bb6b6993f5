import { homedir, hostname, release, userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { appendFileSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { ComputerCheck } from '../../../contract/rpc/computer.ts';
import type { RunSummary } from '../../../contract/rpc/runs.ts';
import { HERE } from '../../system/here.ts';
import type { RunEvent } from '../../store/types.ts';
import { said, toldOf } from '../../../contract/problems.ts';
import type { ProbeResult } from '../../../contract/protocol/index.ts';
import type { PythonEnvironment } from '../../environment/pythonLaunch.ts';
import type { AppPaths } from '../../environment/appPaths.ts';
import { replaceFile } from '../../system/replaceFile.ts';

interface DiagnosticFacts {
  appVersion: string;
  shell: string;
  dataDir: string;
  environment: PythonEnvironment | null;
  probe: ProbeResult | null;
  checks: readonly ComputerCheck[];
  /** The newest runs, each with its warnings and errors. */
  runs: readonly RunFacts[];
  /** Newest lines of the desktop app's own log. */
  shellLog: readonly string[];
}

interface RunFacts {
  summary: RunSummary;
  troubles: readonly RunEvent[];
  /** Paths of requested files that the run continues without. */
  leftOut: readonly string[];
}

/** Text for a support request. It contains no sequences, no file names of inputs, and no names of people. */
export function diagnosticsText(facts: DiagnosticFacts): string {
  const { environment, probe } = facts;
  const lines = [
    `VirNucPro Desktop ${facts.appVersion} (${facts.shell})`,
    `${HERE.platform} ${release()} ${process.arch}, Node ${process.versions.node}` +
      (process.versions['electron'] ? `, Electron ${process.versions['electron']}` : ''),
    `Data: ${facts.dataDir}`,
    '',
    'Computer check',
    ...facts.checks.map(({ title, status, sentence }) => `  [${status}] ${title}: ${sentence}`),
    '',
    'Devices',
    ...deviceLines(probe),
    '',
    'Python',
    ...(environment
      ? [
          `  ${environment.pythonVersion} at ${environment.interpreter}${environment.own ? '' : " (the user's own)"}`,
          ...Object.entries(environment.packages).map(([name, version]) => `  ${name} ${version}`),
        ]
      : ['  none that can be used']),
    '',
    'Latest runs',
    ...facts.runs.flatMap(runLines),
    '',
    'Desktop app',
    ...facts.shellLog.map((line) => facts.runs.reduce(withoutPaths, `  ${line}`)),
  ];
  return redact(`${lines.join('\n')}\n`, {
    homeFolder: homedir(),
    userName: userInfo().username,
    hostName: hostname(),
  });
}

function deviceLines(probe: ProbeResult | null): string[] {
  if (!probe) return ['  could not be asked'];
  const { cpu, gpus } = probe;
  return [
    `  driver ${probe.driver_version ?? 'none'}, CUDA ${probe.cuda_driver_version ?? 'none'}, ` +
      `CUDA_VISIBLE_DEVICES ${probe.cuda_visible_devices ?? 'not set'}`,
    ...gpus.map(
      (gpu) =>
        `  GPU ${gpu.index} ${gpu.name}, compute capability ${gpu.compute_capability.join('.')}, ` +
        `${gpu.memory_free_bytes} of ${gpu.memory_total_bytes} bytes free, ${gpu.processes.length} processes` +
        (gpu.visible ? '' : ', hidden') +
        (gpu.blocked_by === null ? '' : `, blocked by ${gpu.blocked_by}`),
    ),
    ...(probe.no_gpu_code
      ? [`  ${toldOf(said(probe.no_gpu_code, {}))} ${probe.no_gpu_detail ?? ''}`.trimEnd()]
      : []),
    `  ${cpu.name}, ${cpu.logical_cores} cores, ${cpu.memory_available_bytes} of ${cpu.memory_total_bytes} bytes free`,
  ];
}

function runLines(run: RunFacts): string[] {
  const { summary, troubles } = run;
  const { plan, state, createdAt } = summary;
  const lines = [
    `  ${createdAt} ${state.phase}${summary.interrupted ? ' (interrupted)' : ''}, model ${plan.model.name}, ` +
      `${plan.precision}, ${plan.inputs.length} inputs, ${plan.inputs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)} bytes`,
    ...('error' in state && state.error ? [`    ${state.error.code}: ${state.error.cause}`] : []),
    ...troubles.map(
      (event) => `    ${new Date(event.time).toISOString()} ${event.level} ${event.code}: ${event.message}`,
    ),
  ];
  return lines.map((line) => withoutPaths(line, run));
}

/** File names reveal what somebody works on. */
function withoutPaths(line: string, { summary: { plan, folder }, leftOut }: RunFacts): string {
  const hidden: [string, string][] = [
    [folder, '<run folder>'],
    ...[plan.imported?.folder, plan.earlier].flatMap((path): [string, string][] =>
      path === undefined ? [] : [[path, '<earlier run>']],
    ),
    ...namesOf(
      plan.inputs.map(({ path }) => path),
      'input',
    ),
    ...namesOf(leftOut, 'left out'),
  ];
  // A name may be part of another one.
  return hidden
    .toSorted(([a], [b]) => b.length - a.length)
    .reduce((text, [name, instead]) => text.replaceAll(name, instead), line);
}

function namesOf(paths: readonly string[], called: string): [string, string][] {
  return paths.flatMap((path, index) => {
    const instead = `<${called} ${index + 1}>`;
    return [
      [path, instead],
      [basename(path), instead],
    ];
  });
}

interface PrivateFacts {
  homeFolder: string;
  userName: string;
  hostName: string;
}

/** Shorter names would also be found inside ordinary words. */
const SHORTEST_NAME = 3;

/** Removes from a text what reveals the user's name or location. */
export function redact(text: string, { homeFolder, userName, hostName }: PrivateFacts): string {
  let redacted = text;
  const home = homeFolder.replace(/[\\/]+$/, '');
  if (home.length > 1) {
    for (const spelling of new Set([home, home.replaceAll('\\', '/'), home.replaceAll('\\', '\\\\')])) {
      redacted = redacted.replaceAll(spelling, '~');
    }
  }
  // Home folders of other accounts, such as a colleague's whose file was dropped.
  redacted = redacted.replaceAll(/(\/(?:home|Users)\/|[A-Za-z]:\\Users\\)[^/\\\s"']+/g, '$1<user>');
  redacted = withoutWord(redacted, userName, '<user>');
  return withoutWord(redacted, hostName, '<host>');
}

function withoutWord(text: string, word: string, instead: string): string {
  if (word.length < SHORTEST_NAME) return text;
  const literal = word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return text.replaceAll(new RegExp(`(?<![\\w-])${literal}(?![\\w-])`, 'gi'), instead);
}

const LARGEST_BYTES = 512 * 1024;
const LINES_IN_DIAGNOSTICS = 60;

export type LogLevel = 'info' | 'warning' | 'error';

/** A log of the desktop app itself, not of a run: it must work even if nothing else could start. */
export class ShellLog {
  readonly file: string;

  constructor(file: string) {
    this.file = file;
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      if (existsSync(file) && statSync(file).size > LARGEST_BYTES) replaceFile(file, previous(file));
    } catch {
      // A log that cannot be written must not keep the window from opening.
    }
  }

  /**
   * Writes at once, since the program may end before the next line. Line breaks are folded, so that an entry
   * is one line.
   */
  write(level: LogLevel, message: string): void {
    const line = message.trim().replaceAll(/\s*[\r\n]+\s*/g, ' | ');
    try {
      appendFileSync(this.file, `${new Date().toISOString()} ${level} ${line}\n`);
    } catch {
      // See above.
    }
  }
}

export function shellLogFile({ dataDir }: Pick<AppPaths, 'dataDir'>): string {
  return join(dataDir, 'logs', 'shell.log');
}

/** The newest lines, including those of the previous file; none if the desktop app has never run. */
export async function latestShellLog(paths: Pick<AppPaths, 'dataDir'>): Promise<string[]> {
  const file = shellLogFile(paths);
  const texts = await Promise.all([previous(file), file].map((one) => readFile(one, 'utf8').catch(() => '')));
  return texts
    .join('')
    .split('\n')
    .filter((line) => line !== '')
    .slice(-LINES_IN_DIAGNOSTICS);
}

function previous(file: string): string {
  return `${file}.1`;
}
