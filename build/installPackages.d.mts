export function installPackages(root: string, say?: (text: string) => void): Promise<void>;
export function installNode(root: string, say?: (text: string) => void): Promise<void>;
export function projectsNode(root: string): string;
export function progressOf(total: number): { see(line: string): boolean; words(): string };
export function inWords(output: string): string;
export const NETWORK: RegExp;
