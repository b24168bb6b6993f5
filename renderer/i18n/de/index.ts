import type { Messages } from '../index.ts';
import { en } from '../en/index.ts';
export const de: Messages = en;
