/** Computers for which there is no PyTorch at all: said in one sentence before anything is fetched. */
import { appError, type AppError } from '../../../contract/errors.ts';
import type { Machine } from './machine.ts';

/** Of the pinned PyTorch's wheels for Apple's computers. */
export const OLDEST_MACOS = 14;

const ELSEWHERE = 'Use another computer, for example a Linux server in browser mode ("virnucpro serve").';

/** Null for a computer that can compute. */
export function unsupportedMachine(machine: Machine): AppError | null {
  const { platform, arch } = machine;
  const refuse = (cause: string, nextStep: string): AppError =>
    appError('computer_unsupported', cause, { nextStep });
  if (platform === 'darwin' && arch !== 'arm64') {
    return refuse(
      'PyTorch, which does the computing, is no longer made for Macs with an Intel processor.',
      `${ELSEWHERE} A Mac with an Apple chip works too.`,
    );
  }
  if (platform === 'darwin' && machine.macosMajor !== null && machine.macosMajor < OLDEST_MACOS) {
    return refuse(
      `PyTorch, which does the computing, needs macOS ${OLDEST_MACOS} or newer; this is macOS ${machine.macosMajor}.`,
      'Update macOS under System Settings, General, Software Update, then start again.',
    );
  }
  if (platform === 'win32' && arch !== 'x64') {
    return refuse(
      'PyTorch, which does the computing, is not made for this program on Windows with an ARM processor.',
      ELSEWHERE,
    );
  }
  if (platform === 'linux' && arch !== 'x64' && arch !== 'arm64') {
    return refuse(`PyTorch, which does the computing, is not made for ${arch} processors.`, ELSEWHERE);
  }
  if (platform === 'linux' && machine.musl) {
    return refuse(
      'PyTorch, which does the computing, needs the C library glibc; this Linux has musl.',
      'Use a Linux with glibc, such as Debian, Ubuntu or Fedora; a container of one on this computer works too.',
    );
  }
  if (platform !== 'linux' && platform !== 'darwin' && platform !== 'win32') {
    return refuse(`PyTorch, which does the computing, is not made for ${platform}.`, ELSEWHERE);
  }
  return null;
}
