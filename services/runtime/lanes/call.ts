import type { Actor, CallKey } from '@causeway/proto';

/** The body is the caller's bytes, unparsed. */
export interface LaneCall {
  readonly operation: string;
  /** The tenant every query is bound to; 0 for operator calls. */
  readonly tenant: number;
  /** The caller within the tenant: an API key's id, or a member's id if there is an `actor`; 0 for operator calls. */
  readonly caller: number;
  readonly requestId: string;
  readonly traceparent: string;
  /** Milliseconds left until the caller gives up. A duration, because the clocks of the two ends may differ. */
  readonly budgetMs: number;
  readonly params: readonly string[];
  readonly query: string;
  readonly body: Uint8Array;
  /**
   * Names a write over all its sendings, in 32 hexadecimal digits. The service carries it out at most once.
   */
  readonly callId?: string;
  /** The call was sent before, and may have been carried out. */
  readonly again?: boolean;
  /** The client's `Idempotency-Key` (contract, "Idempotency"); only beside a `callId`. */
  readonly idempotencyKey?: string;
  readonly key?: CallKey;
  readonly actor?: Actor;
  /** Not sent. Whether it may be sent again: it has a `callId`, or doing it twice does no harm. */
  readonly repeatable?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly body: Uint8Array | string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The answer at the calling end. */
export interface LaneAnswer {
  readonly status: number;
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

export type LaneErrorCode =
  | 'absent'
  /** Nothing was executed. */
  | 'disconnected'
  /** Nothing was executed. */
  | 'overloaded'
  /** The call may have been executed. */
  | 'timeout'
  | 'too_large'
  /** The call may have been executed. */
  | 'closed';

export class LaneError extends Error {
  override readonly name = 'LaneError';
  readonly code: LaneErrorCode;
  constructor(code: LaneErrorCode, lane: string) {
    super(`lane ${lane}: ${code}`);
    this.code = code;
  }
}
