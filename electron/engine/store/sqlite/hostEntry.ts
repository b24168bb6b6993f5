import { runStoreHost } from './host.ts';

runStoreHost();
