import type { Socket } from 'node:net';
// @ts-expect-error undici has no types for its internals.
import symbols from 'undici/lib/core/symbols.js';

/**
 * Makes undici ignore `100 Continue` like every other interim answer (RFC 9110, section 15.2: a client must accept
 * one that it did not ask for). Undici's parser closes the connection at a 100 and has no option for it, so this
 * hands the parser a 102 instead.
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
