// Not TypeScript: the types of resedit would bring those of a browser into all tests.
import { Buffer } from 'node:buffer';
import { NtExecutable, NtExecutableResource, Resource } from 'resedit';

export function windowsProgram() {
  const program = NtExecutable.createEmpty();
  const resources = NtExecutableResource.from(program);
  const version = Resource.VersionInfo.createEmpty();
  version.setFileVersion('1.0.0.0');
  version.outputToResourceEntries(resources.entries);
  resources.outputResource(program);
  return Buffer.from(program.generate());
}
