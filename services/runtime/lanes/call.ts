import type { Actor, CallKey, Condition } from '@causeway/proto';

/** The body is the caller's bytes, unparsed. */
export interface LaneCall {
  readonly operation: string;
  /** The tenant every query is bound to; 0 for operator calls. */
  readonly tenant: number;
  /** An API key's id, or a member's id if there is an `actor`; 0 for operator calls. */
  readonly caller: number;
  readonly requestId: string;
  readonly traceparent: string;
  /** A duration, because the clocks of the two ends may differ. */
  readonly budgetMs: number;
  readonly params: readonly string[];
  readonly query: string;
  readonly body: Uint8Array;
  /** Names a write over all its sendings, in 32 hexadecimal digits. It is carried out at most once. */
  readonly callId?: string;
  readonly again?: boolean;
  /** The client's `Idempotency-Key` (contract, "Idempotency"); only beside a `callId`. */
  readonly idempotencyKey?: string;
  /** Of a write with a `callId` (contract, "Versions"). */
  readonly condition?: Condition | undefined;
  readonly key?: CallKey;
  readonly actor?: Actor;
  /** Not sent. Whether the call may be sent again. */
  readonly repeatable?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly body: Uint8Array | string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface LaneAnswer {
  readonly status: number;
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** After `timeout` and `closed` the call may have been executed, after the others it was not. */
export type LaneErrorCode = 'absent' | 'disconnected' | 'overloaded' | 'timeout' | 'too_large' | 'closed';

export class LaneError extends Error {
  override readonly name = 'LaneError';
  readonly code: LaneErrorCode;
  constructor(code: LaneErrorCode, lane: string) {
    super(`lane ${lane}: ${code}`);
    this.code = code;
  }
}
