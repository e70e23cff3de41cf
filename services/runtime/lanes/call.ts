import type { Actor, CallKey } from '@causeway/proto';

/** One request on a lane. Nothing in it is parsed: the body is the caller's bytes. */
export interface LaneCall {
  readonly operation: string;
  /** The tenant every query is bound to; 0 for operator calls. */
  readonly tenant: number;
  /** Who calls, within the tenant: an API key's id, or a member's where there is an `actor`; 0 for operator calls. */
  readonly caller: number;
  readonly requestId: string;
  /** W3C trace context of this hop. */
  readonly traceparent: string;
  /**
   * Milliseconds left until the caller gives up. A duration and not a time of day: the two ends' clocks
   * may differ.
   */
  readonly budgetMs: number;
  /** Path parameters, in the order of the path, still percent-encoded. */
  readonly params: readonly string[];
  /** The raw query string, without `?`. */
  readonly query: string;
  readonly body: Uint8Array;
  /** Of a call with an API key: what proves it, and where it comes from. */
  readonly key?: CallKey;
  /** Of a call of a member, or of somebody without a session: who makes it, and from where. */
  readonly actor?: Actor;
}

export interface Answer {
  readonly status: number;
  /** Strings are sent as UTF-8; null is an answer without a body. */
  readonly body: Uint8Array | string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the calling end gets: as `Answer`, its body always bytes (none: length 0). */
export interface LaneAnswer {
  readonly status: number;
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

export type LaneErrorCode =
  /** No replica listens. Nothing was executed. */
  | 'absent'
  /** The connection to NATS is down. Nothing was executed. */
  | 'disconnected'
  /** Too much is in flight, here or at the replica. Nothing was executed. */
  | 'overloaded'
  /** No answer within the budget: the call may have been executed. */
  | 'timeout'
  /** The call does not fit in a frame. Nothing was executed. */
  | 'too_large'
  /** This end stops. The call may have been executed. */
  | 'closed';

export class LaneError extends Error {
  override readonly name = 'LaneError';
  readonly code: LaneErrorCode;
  constructor(code: LaneErrorCode, lane: string) {
    super(`lane ${lane}: ${code}`);
    this.code = code;
  }
}
