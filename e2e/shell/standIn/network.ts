/** Requests of the main process (api/net) and the system's own installer of newer versions (api/auto-updater). */
import { EventEmitter } from 'node:events';
import { request as overHttp, type ClientRequest, type RequestOptions } from 'node:http';
import { request as overHttps } from 'node:https';

export const net = {
  /** "The ClientRequest instance [...] implements the Writable Stream interface"; its events and `abort` are Node's as well. */
  request: (options: RequestOptions): ClientRequest =>
    options.protocol === 'http:' ? overHttp(options) : overHttps(options),
};

/** Squirrel, which exists on macOS and Windows only. */
export const autoUpdater = new EventEmitter();
