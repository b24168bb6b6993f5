import { z } from 'zod';
import { appErrorSchema, AppFailure, appFailure } from '../../electron/contract/index.ts';

const uploadAnswer = z.union([z.object({ path: z.string() }), z.object({ error: appErrorSchema })]);

/** Streams a file of this computer to the engine's computer. Resolves with its path there. */
export function uploadFile(
  file: File,
  name: string,
  onProgress: (fraction: number) => void,
  signal: AbortSignal,
): Promise<string> {
  return new Promise((resolve, reject) => {
    // XMLHttpRequest, because fetch does not report how much of a body has been sent.
    const request = new XMLHttpRequest();
    const fail = (cause: string) => reject(appFailure('input_unreadable', cause));
    request.open('PUT', new URL(`upload/${encodeURIComponent(name)}`, location.href).href);
    request.responseType = 'json';
    request.upload.addEventListener('progress', (event) => {
      if (event.lengthComputable && event.total > 0) onProgress(event.loaded / event.total);
    });
    request.addEventListener('load', () => {
      const answer = uploadAnswer.safeParse(request.response).data;
      if (answer && 'path' in answer) resolve(answer.path);
      else if (answer) reject(new AppFailure(answer.error));
      else fail(`${name} was not accepted (${request.status}).`);
    });
    request.addEventListener('error', () => fail(`${name} could not be sent.`));
    request.addEventListener('abort', () => reject(new DOMException('Upload cancelled', 'AbortError')));
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(file);
  });
}
