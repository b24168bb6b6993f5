export function packagesAreCurrent(root: string): boolean;
export function projectsNode(root: string): string;
export function installPackages(root: string): Promise<void>;
export function installNode(root: string): Promise<void>;
