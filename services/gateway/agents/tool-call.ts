import { basePath, maxAgentBytes } from '@causeway/proto';
import { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { noBody } from '../http/body.ts';
import type { Head } from '../http/head.ts';
import type { HttpResponse } from '../http/uws.ts';
import { keyAnswers, serveKey } from '../keys/serve.ts';
import type { Header } from '../limits/limiter.ts';
import type { ToolAnswer, ToolRequest } from './messages.ts';

export interface ServedCall extends Omit<ToolAnswer, 'kind' | 'call'> {
  readonly headers: readonly Header[];
}

/**
 * Serves a tool's request exactly as the same request over HTTP: the same checks, limits, validation, answer, log line and metrics,
 * because it takes the same way through the gateway. Only the socket is missing.
 * @param outer the agent's request, whose key, request ID and trace it has
 */
export const serveToolCall = (
  gateway: Gateway,
  outer: Exchange,
  apiKey: string,
  request: ToolRequest,
): Promise<ServedCall> =>
  new Promise((resolve) => {
    const body = Buffer.from(request.body ?? '');
    const head: Head = {
      ...outer.head,
      method: request.method,
      path: basePath + request.path,
      query: request.query,
      apiKey,
      requestId: outer.requestId,
      traceparent: outer.traceparent,
      idempotencyKey: request.idempotencyKey,
      ifMatch: undefined,
      ifNoneMatch: undefined,
      otherCondition: undefined,
      bodyBytes: body.byteLength,
      isEncoded: false,
      loose: false,
      closes: false,
    };
    const answer = answerTaker(body, ({ status, headers, text }) => {
      const headerNamed = (name: string): string | undefined => headers.find(([one]) => one === name)?.[1];
      const requestId = headerNamed('X-Request-Id') ?? outer.requestId;
      resolve({ status, requestId, retryAfter: headerNamed('Retry-After'), body: text, headers });
    });
    const exchange = new Exchange(gateway, answer, head, outer.address, keyAnswers);
    try {
      serveKey(gateway, exchange).catch((error: unknown) => exchange.fail(error));
    } catch (error) {
      exchange.fail(error);
    }
  });

interface Taken {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly text: string | null;
}

/** What `Exchange`, `Bodies` and `writeAnswer` use of a response. */
type Used =
  | 'onAborted'
  | 'onData'
  | 'onWritable'
  | 'cork'
  | 'writeStatus'
  | 'writeHeader'
  | 'end'
  | 'tryEnd'
  | 'pause'
  | 'close';

const answerTaker = (sent: Buffer, take: (taken: Taken) => void): HttpResponse => {
  let status = 200;
  const headers: Header[] = [];
  const finish = (body: Uint8Array = noBody): void =>
    take({ status, headers, text: body.byteLength > maxAgentBytes ? null : Buffer.from(body).toString() });
  const taker: Pick<HttpResponse, Used> = {
    onAborted: () => response,
    onData: (handler) => {
      const { buffer, byteOffset, byteLength } = sent;
      queueMicrotask(() => handler(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer, true));
      return response;
    },
    onWritable: () => response,
    cork: (write) => {
      write();
      return response;
    },
    writeStatus: (line) => {
      status = Number.parseInt(line.toString(), 10);
      return response;
    },
    writeHeader: (name, value) => {
      const [own = '', ...further] = value.toString().split('\r\n');
      headers.push([name.toString(), own]);
      for (const line of further) headers.push(line.split(': ', 2) as [string, string]);
      return response;
    },
    end: (body) => {
      finish(body as Uint8Array);
      return response;
    },
    tryEnd: (body) => {
      finish(body as Uint8Array);
      return [true, true];
    },
    // An answer without a body ends like this.
    pause: () => {
      finish();
      return response;
    },
    close: () => response,
  };
  const response = taker as HttpResponse;
  return response;
};
