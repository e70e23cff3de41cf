import type { Actor, CallKey } from '@causeway/proto';

/** One request on a lane. Nothing in it is parsed: the body is the caller's bytes. */
export interface LaneCall {
  readonly operation: string;
  /** The tenant every query is bound to; 0 for operator calls. */
  readonly tenant: number;
  /** The caller within the tenant: an API key's id, or a member's id if there is an `actor`; 0 for operator calls. */
  readonly caller: number;
  readonly requestId: string;
  /** W3C trace context of this hop. */
  readonly traceparent: string;
  /** Milliseconds left until the caller gives up. A duration, because the clocks of the two ends may differ. */
  readonly budgetMs: number;
  /** Path parameters, in the order of the path, still percent-encoded. */
  readonly params: readonly string[];
  /** The raw query string, without `?`. */
  readonly query: string;
  readonly body: Uint8Array;
  /**
   * The name of a write over all its sendings: 32 hexadecimal digits, unique over all gateways. The service carries the
   * call out at most once (`services/runtime/idempotency`).
   */
  readonly callId?: string;
  /** The call was sent before, and may have been carried out. */
  readonly again?: boolean;
  /** The client's `Idempotency-Key` (contract, "Idempotency"); only beside a `callId`. */
  readonly idempotencyKey?: string;
  /** For a call with an API key: its proof and the client's address. */
  readonly key?: CallKey;
  /** For a call of the portal: the member, if signed in, and the client's address. */
  readonly actor?: Actor;
  /**
   * Whether it may be sent again if its replica or a connection fails: it has a `callId`, or doing it twice does no harm.
   * It stays with the client.
   */
  readonly repeatable?: boolean;
}

export interface Answer {
  readonly status: number;
  /** Strings are sent as UTF-8; null is an answer without a body. */
  readonly body: Uint8Array | string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The answer at the calling end. Like `Answer`, but its body is always bytes (length 0 if none). */
export interface LaneAnswer {
  readonly status: number;
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

export type LaneErrorCode =
  /** No replica lives. Nothing was executed. */
  | 'absent'
  /** The connection to NATS was down for the whole budget. Nothing was executed. */
  | 'disconnected'
  /** Too much is in flight, here or at the replica. Nothing was executed. */
  | 'overloaded'
  /** No answer within the budget: the call may have been executed. */
  | 'timeout'
  /** The call does not fit in a frame. Nothing was executed. */
  | 'too_large'
  /** This process is stopping. The call may have been executed. */
  | 'closed';

export class LaneError extends Error {
  override readonly name = 'LaneError';
  readonly code: LaneErrorCode;
  constructor(code: LaneErrorCode, lane: string) {
    super(`lane ${lane}: ${code}`);
    this.code = code;
  }
}
