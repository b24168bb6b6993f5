/**
 * A pipe whose reader has left (`| head`), a terminal that was closed or a full disk behind `>` would else end the
 * process with the run in its hands. What can't be written is lost; the run and its log go on.
 */
export function ignoreBrokenPipes(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}
