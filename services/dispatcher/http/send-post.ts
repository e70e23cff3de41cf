import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import type { ErrorClass, HeaderPair } from '@causeway/proto';
import type { Dispatcher } from 'undici';
import type { Connection, ConnectionPool } from './connection-pool.ts';
import { Failure, requestFailure } from './failure.ts';

export interface Post {
  readonly url: string;
  readonly headers: readonly HeaderPair[];
  readonly body: Buffer | string;
}

/** Durations are whole milliseconds, or null for a step that did not happen. */
export interface PostResult {
  readonly elapsedMs: number;
  /** The next three are null if the attempt reused a connection. */
  readonly dnsMs: number | null;
  readonly connectMs: number | null;
  readonly tlsMs: number | null;
  readonly firstByteMs: number | null;
  readonly address: string | null;
  readonly statusCode: number | null;
  /** Null for a 2xx. */
  readonly errorClass: ErrorClass | null;
  readonly error: string | null;
  /** False if the URL is not one that is delivered to. */
  readonly wasSent: boolean;
  /** The receiver ended a kept connection within a round trip of the request, so it can hardly have read it. */
  readonly wasUnread: boolean;
  /** The code of a fault on our side: nothing was sent, and the receiver cannot be blamed. */
  readonly ownFault: string | null;
  readonly responseHeaders: readonly HeaderPair[] | null;
  /** At most 16 KiB, inflated if the receiver compressed it. */
  readonly responseBody: Buffer | null;
  readonly responseTruncated: boolean;
  readonly retryAfter: string | null;
}

interface SendContext {
  readonly pool: ConnectionPool;
  readonly now: () => number;
  readonly timeoutMs: number;
  /** @throws Failure */
  readonly targetOf: (url: string) => URL;
}

/** For the rest of the head and the body, once the status is known: it decides, so its result must not wait for them. */
const bodyMs = 1000;
/** A longer body closes the connection. */
const readBytes = 64 * 1024;
const keptHeaders = 64;
const keptHeaderBytes = 8 * 1024;
/** More interim answers (1xx) are a failure. */
const maxInformational = 64;

const stoodStillMs = 250;
/** Beside a round trip, for the event loops at both ends. */
const turnMs = 20;
const longestRoundTripMs = 250;

/** Never rejects. */
export const sendPost = (context: SendContext, post: Post): Promise<PostResult> =>
  new Promise((resolve) => {
    const { pool, now, timeoutMs } = context;
    const startMs = now();
    const since = (ms: number) => Math.max(0, Math.round(ms - startMs));
    let wasSent = false;
    let wasUnread = false;
    let connection: Connection | undefined;
    let reused = false;
    /** When the request was written; undefined until then. */
    let writtenMs: number | undefined;
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
      if (connection) connection.onStatusLine = undefined;
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
        wasUnread,
        ownFault: statusCode === null ? (failure?.ownFault ?? null) : null,
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

    /** What arrived while this process stood still counts: a late timer gives the sockets a turn, and the lost time. */
    const endAfter = (ms: number): NodeJS.Timeout => {
      const dueMs = now() + ms;
      return setTimeout(() => {
        const lateMs = Math.min(now() - dueMs, ms);
        if (lateMs > stoodStillMs) timer = endAfter(lateMs);
        else setImmediate(() => finish(tooLate(connection, context), false));
      }, ms);
    };
    let timer = endAfter(timeoutMs);

    const decided = (status: number) => {
      if (over || statusCode !== null) return;
      firstByteMs ??= since(now());
      statusCode = status;
      clearTimeout(timer);
      timer = endAfter(bodyMs);
    };

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => {
        writtenMs = now();
      },
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
        decided(status);
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
        // The receiver had closed the kept connection before.
        if (!over && reused && writtenMs === undefined) return send(true);
        wasUnread = reused && firstByteMs === null && now() - writtenMs! <= roundTripMs(connection!);
        if (wasUnread) pool.keepNone(connection!.origin);
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
        connection.onStatusLine = decided;
        wasSent = true;
        const path = url.href.slice(url.origin.length).replace(/#.*$/, '');
        connection.client.dispatch(
          { method: 'POST', path, headers: post.headers.flat(), body: post.body },
          handler,
        );
      } catch (error) {
        finish(requestFailure(error as Error), false);
      }
    };
    send(false);
  });

const roundTripMs = ({ opening }: Connection): number =>
  Math.min(opening.connectMs ?? 0, longestRoundTripMs) + turnMs;

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
  const codings = (encoding ?? '').toLowerCase().split(',');
  const [coding = '', second] = codings.map((one) => one.trim()).filter((one) => one && one !== 'identity');
  const open = second === undefined ? inflaters[coding] : undefined;
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
  zstd: () => createZstdDecompress(options),
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

type Inflater = ReturnType<typeof createGunzip>;
