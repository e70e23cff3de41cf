import type { HttpResponse } from './uws.ts';

/** Larger bodies get 413 (decisions, "Over-large request"). */
export const maxBodyBytes = 1024 * 1024;

export type Body = Buffer | 'too_large';

export const noBody = Buffer.alloc(0);

/**
 * Collects a request's body. Must be called before the request's handler returns. What comes after the
 * limit is read and dropped, so that the connection survives; a client that sends slower than 16 KB/s is
 * disconnected by uWebSockets.js.
 */
export const readBody = (response: HttpResponse, declaredBytes: number): Promise<Body> =>
  new Promise((resolve) => {
    let chunks: Buffer[] | undefined = declaredBytes > maxBodyBytes ? undefined : [];
    let receivedBytes = 0;
    if (chunks === undefined) resolve('too_large');
    response.onData((chunk, last) => {
      if (chunks === undefined) return;
      receivedBytes += chunk.byteLength;
      if (receivedBytes > maxBodyBytes) {
        chunks = undefined;
        return resolve('too_large');
      }
      // The chunk's memory is taken back when this function returns.
      chunks.push(Buffer.from(Buffer.from(chunk)));
      if (last) resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    });
  });
