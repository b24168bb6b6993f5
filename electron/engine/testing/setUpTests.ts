import { afterAll } from 'vitest';
import { removeTemporaryFolders } from './temporaryFolder.ts';

afterAll(removeTemporaryFolders);
