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
    if (status === 204) response.endWithoutBody(undefined, close);
    else if (head) response.endWithoutBody(body === null ? 0 : Buffer.byteLength(body), close);
    else response.end(body ?? '', close);
  });
};
