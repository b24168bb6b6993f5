/** Settings that are needed before there is anything else: where data lie, and how the network is reached. They stand in a small
 * file in the usual data folder, since the library with the other settings lies in the data folder that they name. */
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setupSettingsSchema, type SetupSettings } from '../../contract/rpc/computer.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { writeJson } from '../files/replaceFile.ts';

export function setupFile(usualDataDir: string): string {
  return join(usualDataDir, 'setup.json');
}

/** A file that is missing or damaged is as one that says nothing. */
export function readSetupSettings(usualDataDir: string): SetupSettings {
  let text: string | undefined;
  try {
    text = readFileSync(setupFile(usualDataDir), 'utf8');
  } catch {
    // As a rule there is none.
  }
  return parseJson(setupSettingsSchema, text) ?? setupSettingsSchema.parse({});
}

export function writeSetupSettings(usualDataDir: string, settings: SetupSettings): void {
  const file = setupFile(usualDataDir);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // A proxy's address may hold a password.
  writeJson(file, setupSettingsSchema.parse(settings), 0o600);
}

/** The environment of installers and downloads: what the settings say goes before what the user's shell says. */
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
