import { STATUS_CODES } from 'node:http';
import type { HttpResponse } from './uws.ts';

/** An answer on its way out. */
export interface Outgoing {
  readonly status: number;
  readonly body: Uint8Array | string | null;
  readonly headers: Iterable<readonly [name: string, value: string]>;
}

const statusLines = new Map<number, string>();
const statusLine = (status: number): string => {
  let line = statusLines.get(status);
  if (line === undefined) {
    line = `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
    statusLines.set(status, line);
  }
  return line;
};

/** Writes an answer in one system call. HEAD gets what GET would, without the body. */
export const writeAnswer = (
  response: HttpResponse,
  { status, body, headers }: Outgoing,
  { head, close }: { readonly head: boolean; readonly close: boolean },
): void => {
  response.cork(() => {
    response.writeStatus(statusLine(status));
    for (const [name, value] of headers) response.writeHeader(name, value);
    if (close) response.writeHeader('Connection', 'close');
    if (status === 204 || status === 304) endWithNothing(response, close);
    else if (head) response.endWithoutBody(body === null ? 0 : Buffer.byteLength(body), close);
    else response.end(body ?? '', close);
  });
};

/**
 * Such an answer has no Content-Length (RFC 9110, 8.6). An argument that is there but undefined is written as
 * 2^63, and closing takes an argument: then the length is said to be 0.
 */
const endWithNothing = (response: HttpResponse, close: boolean): void => {
  if (close) response.endWithoutBody(0, true);
  else response.endWithoutBody();
};
