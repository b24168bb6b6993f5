/**
 * Settings that are needed before anything else: where the data folder is, and how the network is reached.
 * They are in a small file in the default data folder, since the library with the other settings is in the
 * data folder that they name.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setupSettingsSchema, type SetupSettings } from '../../contract/rpc/computer.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { writeJson } from '../files/replaceFile.ts';

export function setupFile(usualDataDir: string): string {
  return join(usualDataDir, 'setup.json');
}

/** A missing or damaged file counts as an empty one. */
export function readSetupSettings(usualDataDir: string): SetupSettings {
  let text: string | undefined;
  try {
    text = readFileSync(setupFile(usualDataDir), 'utf8');
  } catch {
    // Usually there is no file.
  }
  return parseJson(setupSettingsSchema, text) ?? setupSettingsSchema.parse({});
}

export function writeSetupSettings(usualDataDir: string, settings: SetupSettings): void {
  const file = setupFile(usualDataDir);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // A proxy's address may contain a password.
  writeJson(file, setupSettingsSchema.parse(settings), 0o600);
}

/** The environment for installers and downloads: the settings take precedence over the user's shell. */
export function networkVariables(
  { proxy, certificateFile, packageIndex }: SetupSettings,
  inherited: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const env = { ...inherited };
  if (proxy !== null) {
    for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']) {
      env[name] = proxy;
      env[name.toLowerCase()] = proxy;
    }
  }
  if (certificateFile !== null) {
    for (const name of ['SSL_CERT_FILE', 'PIP_CERT', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE']) {
      env[name] = certificateFile;
    }
  }
  if (packageIndex !== null) {
    env['PIP_INDEX_URL'] = packageIndex;
    env['UV_DEFAULT_INDEX'] = packageIndex;
  }
  return env;
}
