import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import type { Rectangle } from './windowBounds.ts';
import { parseJson } from '../../contract/parseJson.ts';

const boundsSchema = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() });

/** Where the window was when it was closed. Whatever is wrong with the file, a window opens. */
export function readWindowBounds(file: string): Rectangle | undefined {
  try {
    return parseJson(boundsSchema, readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

export function writeWindowBounds(file: string, bounds: Rectangle): void {
  try {
    writeFileSync(file, JSON.stringify(bounds));
  } catch {
    // The next window opens in the middle.
  }
}
