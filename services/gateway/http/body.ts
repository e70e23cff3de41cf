import { Problem, payloadTooLarge, problem } from '@causeway/proto';
import type { HttpResponse } from './uws.ts';

/** Each body goes into one growing buffer; their total size is limited. */
export interface Bodies {
  /** Call it before the request's handler returns. @param declaredBytes -1 if the body is chunked. @param refusal instead of the body */
  read(response: HttpResponse, declaredBytes: number, maxBytes: number, refusal?: Problem): Reading;
  bytesInFlight(): number;
}

export interface Reading {
  /** Never resolves if the client disconnects. Data that arrives after a refusal is dropped. */
  readonly body: Promise<Buffer | Problem>;
  release(): void;
}

interface BodyBounds {
  readonly bytesInFlight: number;
  /** Each chunk costs a call, however small it is. */
  readonly chunks: number;
}

export const noBody = Buffer.alloc(0);

const firstBytes = 16 * 1024;

export const createBodies = (bounds: BodyBounds): Bodies => {
  let inFlight = 0;

  const read: Bodies['read'] = (response, declaredBytes, maxBytes, refusal) => {
    let buffer: Buffer | undefined = noBody;
    let receivedBytes = 0;
    let chunks = 0;
    const { promise, resolve } = Promise.withResolvers<Buffer | Problem>();

    const release = (): void => {
      inFlight -= buffer?.byteLength ?? 0;
      buffer = undefined;
    };
    const refuse = (why: Problem): void => {
      release();
      resolve(why);
    };
    const grow = (held: Buffer, bytes: number): Buffer | undefined => {
      if (inFlight + bytes - held.byteLength > bounds.bytesInFlight) return undefined;
      const grown = Buffer.allocUnsafeSlow(bytes);
      held.copy(grown, 0, 0, receivedBytes);
      inFlight += bytes - held.byteLength;
      return grown;
    };

    if (refusal) refuse(refusal);
    else if (declaredBytes > maxBytes) refuse(payloadTooLarge(maxBytes));
    response.onData((chunk, last) => {
      if (++chunks > bounds.chunks && declaredBytes < 0) {
        if (buffer) refuse(tooManyChunks(bounds.chunks));
        // The client continues after the refusal: each chunk costs as much as before.
        else if (chunks > 2 * bounds.chunks) response.close();
      }
      if (!buffer) return;
      const bytes = receivedBytes + chunk.byteLength;
      if (bytes > maxBytes) return refuse(payloadTooLarge(maxBytes));
      if (bytes > buffer.byteLength) {
        const wanted = last ? bytes : Math.max(bytes, 2 * buffer.byteLength, Math.min(firstBytes, maxBytes));
        const grown = grow(buffer, Math.min(wanted, declaredBytes < 0 ? maxBytes : declaredBytes));
        if (!grown) return refuse(problem('service_unavailable'));
        buffer = grown;
      }
      // The chunk's memory is invalid once this function returns.
      buffer.set(new Uint8Array(chunk), receivedBytes);
      receivedBytes = bytes;
      if (last) resolve(buffer.subarray(0, receivedBytes));
    });
    return { body: promise, release };
  };

  return { read, bytesInFlight: () => inFlight };
};

const tooManyChunks = (most: number): Problem =>
  new Problem({
    code: 'payload_too_large',
    publicMessage: `the request body has more than ${most} chunks`,
  });
