import { join } from 'node:path';
import { engineBase } from '../../run/engineContext.ts';
import { REAL_PYTHON, temporaryFolder, testContext } from '../../testing/testContext.ts';
import { openService, type Service } from '../service.ts';

interface TestService {
  service: Service;
  /** Holds the data folder and all files of a test. */
  folder: string;
}

/** The whole product with the real backend, in folders of its own, or in those of an earlier service. */
export async function openTestService(existing?: string): Promise<TestService> {
  const folder = existing ?? temporaryFolder();
  const { paths, storeHost } = testContext();
  const base = engineBase({
    appVersion: 'test',
    paths: { ...paths, dataDir: join(folder, 'data'), usualDataDir: join(folder, 'data') },
    storeHost,
  });
  const service = await openService(base, {
    interpreter: REAL_PYTHON,
    resultsFolder: join(folder, 'results'),
  });
  return { service, folder };
}
