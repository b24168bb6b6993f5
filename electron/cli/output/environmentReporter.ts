import type { EnvironmentState } from '../../engine/environment/index.ts';

/** Says what the set-up of the Python environment is doing, a line for each new step; nothing where all is ready. */
export function environmentReporter(quiet: boolean): (state: EnvironmentState) => void {
  let last = '';
  const say = (text: string): void => {
    if (text === last || quiet) return;
    last = text;
    process.stderr.write(`${text}\n`);
  };
  return (state) => {
    switch (state.state) {
      case 'waiting':
        say('Waiting for another set-up of the Python environment to end ...');
        break;
      case 'creating':
        say(`Making the Python environment with ${state.basePython} ...`);
        break;
      case 'installing':
        say(`Installing Python packages, step ${state.step} of ${state.stepCount}: ${state.title}`);
        break;
      default:
        break;
    }
  };
}
