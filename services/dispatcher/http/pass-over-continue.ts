import type { Socket } from 'node:net';
// @ts-expect-error undici has no types for its internals.
import symbols from 'undici/lib/core/symbols.js';

/**
 * Has undici ignore `100 Continue`, as it ignores every other interim answer (RFC 9110, section 15.2: a client must
 * be able to parse one that it did not ask for). Its parser ends the connection at a 100, and has no option for it, so
 * the parser of this connection is told 102 instead.
 */
export const passOverContinue = (socket: Socket): void => {
  const parser = (socket as unknown as Record<symbol, Parser>)[symbols.kParser]!;
  const onHeadersComplete = parser.onHeadersComplete;
  parser.onHeadersComplete = (statusCode, ...rest) =>
    onHeadersComplete.call(parser, statusCode === 100 ? 102 : statusCode, ...rest);
};

interface Parser {
  onHeadersComplete(statusCode: number, ...rest: readonly unknown[]): number;
}
