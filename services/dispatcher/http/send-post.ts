import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { ErrorClass, HeaderPair } from '@causeway/proto';
import type { Dispatcher } from 'undici';
import type { Connection, ConnectionPool } from './connection-pool.ts';
import { Failure, requestFailure } from './failure.ts';
import type { Post, PostResult } from './post.ts';

interface SendContext {
  readonly pool: ConnectionPool;
  readonly now: () => number;
  readonly timeoutMs: number;
  /** @throws Failure */
  readonly targetOf: (url: string) => URL;
}

/** A longer body closes the connection. */
const readBytes = 64 * 1024;
const keptHeaders = 64;
const keptHeaderBytes = 8 * 1024;
/** More interim answers (1xx) are a failure. */
const maxInformational = 64;

/** Never rejects. */
export const sendPost = (context: SendContext, post: Post): Promise<PostResult> =>
  new Promise((resolve) => {
    const { pool, now, timeoutMs } = context;
    const startMs = now();
    const since = (ms: number) => Math.max(0, Math.round(ms - startMs));
    let wasSent = false;
    let connection: Connection | undefined;
    let reused = false;
    let firstByteMs: number | null = null;
    let statusCode: number | null = null;
    let rawHeaders: readonly Buffer[] = [];
    let headers: Readonly<Record<string, string | readonly string[] | undefined>> = {};
    let informational = 0;
    const chunks: Buffer[] = [];
    let bodyBytes = 0;
    let over = false;

    const finish = (failure: Failure | undefined, complete: boolean) => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      const elapsedMs = since(now());
      const opening = reused ? undefined : connection?.opening;
      const result = {
        elapsedMs,
        dnsMs: rounded(opening?.dnsMs),
        connectMs: rounded(opening?.connectMs),
        tlsMs: rounded(opening?.tlsMs),
        firstByteMs,
        address: connection?.opening.address ?? null,
        statusCode,
        ...verdict(statusCode, failure),
        wasSent,
        responseHeaders: statusCode === null ? null : kept(rawHeaders),
        retryAfter: first(headers['retry-after']),
      };
      if (complete && connection) pool.giveBack(connection);
      else connection?.end();
      if (bodyBytes === 0)
        return resolve({
          ...result,
          responseBody: null,
          responseTruncated: !complete && statusCode !== null,
        });
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      void readable(bytes, first(headers['content-encoding']) ?? undefined).then(({ body, more }) =>
        resolve({ ...result, responseBody: body, responseTruncated: more || !complete }),
      );
    };

    const timer = setTimeout(() => finish(tooLate(connection, context), false), timeoutMs);

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => {},
      onResponseStarted: () => {
        firstByteMs ??= since(now());
      },
      onResponseStart: (controller, status, parsed) => {
        if (status < 200) {
          informational += 1;
          if (informational > maxInformational)
            finish(new Failure('reset', 'The answer never began.'), false);
          return;
        }
        statusCode = status;
        rawHeaders = controller.rawHeaders as readonly Buffer[];
        headers = parsed;
      },
      onResponseData: (_controller, chunk) => {
        // Copied because the chunk is a view of a larger buffer. Compressed bytes are inflated later.
        const limit = headers['content-encoding'] === undefined ? keptBytes + 1 : readBytes;
        const room = limit - bodyBytes;
        if (room > 0) chunks.push(Buffer.from(chunk.subarray(0, room)));
        bodyBytes += chunk.length;
        if (bodyBytes > readBytes) finish(undefined, false);
      },
      onResponseEnd: () => finish(undefined, true),
      onResponseError: (_controller, error) => {
        // The receiver may close an idle connection just as the request goes out.
        if (!over && reused && firstByteMs === null) return send(true);
        finish(requestFailure(error), false);
      },
    };

    const send = (again: boolean) => {
      try {
        const url = context.targetOf(post.url);
        connection?.end();
        connection = pool.take(url, again);
        reused = connection.used;
        connection.used = true;
        wasSent = true;
        connection.client.dispatch(
          { method: 'POST', path: url.pathname + url.search, headers: post.headers.flat(), body: post.body },
          handler,
        );
      } catch (error) {
        finish(requestFailure(error as Error), false);
      }
    };
    send(false);
  });

/** Once there is a status, it decides, even if reading the body failed. */
const verdict = (
  statusCode: number | null,
  failure: Failure | undefined,
): { readonly errorClass: ErrorClass | null; readonly error: string | null } => {
  if (statusCode === null)
    return { errorClass: failure?.errorClass ?? 'reset', error: failure?.message ?? 'No answer came.' };
  if (statusCode >= 200 && statusCode < 300) return { errorClass: null, error: null };
  return statusCode >= 300 && statusCode < 400
    ? { errorClass: 'redirect', error: `The receiver answered ${statusCode}; redirects are not followed.` }
    : { errorClass: 'status', error: `The receiver answered ${statusCode}.` };
};

const tooLate = (connection: Connection | undefined, { timeoutMs }: SendContext): Failure => {
  const seconds = `${timeoutMs / 1000} s`;
  const { doing, address, tlsMs } = connection?.opening ?? {};
  if (doing === 'dns' && !address)
    return new Failure('timeout', `The host was not resolved within ${seconds}.`);
  if (doing === 'connect' && !address)
    return new Failure('timeout', `No connection was made within ${seconds}.`);
  if (doing === 'tls' && tlsMs === null)
    return new Failure('timeout', `No TLS connection within ${seconds}.`);
  return new Failure('timeout', `No answer came within ${seconds}.`);
};

/** Invalid UTF-8 becomes the replacement character. */
const kept = (raw: readonly Buffer[]): HeaderPair[] => {
  const pairs: HeaderPair[] = [];
  let bytes = 0;
  for (let at = 0; at + 1 < raw.length && pairs.length < keptHeaders; at += 2) {
    const name = raw[at]!;
    const value = raw[at + 1]!;
    bytes += name.length + value.length;
    if (bytes > keptHeaderBytes) break;
    pairs.push([name.toString('utf8'), value.toString('utf8')]);
  }
  return pairs;
};

const first = (value: string | readonly string[] | undefined): string | null =>
  (typeof value === 'string' ? value : value?.[0]) ?? null;

const rounded = (ms: number | null | undefined): number | null => (ms == null ? null : Math.round(ms));

/** Contract, "Deliveries". */
const keptBytes = 16 * 1024;

/** For a body that the receiver compressed unasked. If inflating fails, the body stays unchanged. */
const readable = async (
  bytes: Buffer,
  encoding: string | undefined,
): Promise<{ readonly body: Buffer; readonly more: boolean }> => {
  const open = encoding === undefined ? undefined : inflaters[encoding.trim().toLowerCase()];
  const inflated = open && bytes.length > 0 ? await inflate(open(), bytes) : undefined;
  const whole = inflated ?? bytes;
  return { body: Buffer.from(whole.subarray(0, keptBytes)), more: whole.length > keptBytes };
};

const options = { chunkSize: keptBytes };
const inflaters: Readonly<Record<string, () => Inflater>> = {
  gzip: () => createGunzip(options),
  'x-gzip': () => createGunzip(options),
  deflate: () => createInflate(options),
  br: () => createBrotliDecompress(options),
};

const inflate = (inflater: Inflater, bytes: Buffer): Promise<Buffer | undefined> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const finish = () => {
      inflater.destroy();
      resolve(length > 0 ? Buffer.concat(chunks) : undefined);
    };
    // Inflating stops once there is enough, so a compression bomb does no harm.
    inflater.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > keptBytes) finish();
    });
    // The body is cut where reading stopped, so inflating often ends in an error.
    inflater.once('end', finish).once('error', finish);
    inflater.end(bytes);
  });

type Inflater = ReturnType<typeof createGunzip | typeof createInflate | typeof createBrotliDecompress>;
