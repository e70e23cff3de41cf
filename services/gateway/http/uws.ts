import type * as uWebSockets from 'uWebSockets.js';
import { createRequire } from 'node:module';
import { readEnv } from '@causeway/runtime';

export type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';

/**
 * Sets a header block of 16 KiB: the default of 4 KiB is less than one long token or trace state. The library
 * reads the setting when it is loaded, so it cannot be imported statically.
 */
export const loadUws = (): typeof uWebSockets => {
  readEnv().UWS_HTTP_MAX_HEADERS_SIZE ??= '16384';
  const uws = createRequire(import.meta.url)('uWebSockets.js') as typeof uWebSockets & {
    _cfg(setting: 'silent'): void;
  };
  uws._cfg('silent');
  return uws;
};
