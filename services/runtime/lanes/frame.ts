import type { Actor, CallKey, Condition } from '@causeway/proto';
import type { Bus } from '../bus.ts';

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

/**
 * A frame carries calls (or answers) of one event-loop tick as one NATS message:
 *
 *     u32 little-endian   length of the head in bytes
 *     head                JSON: one array per entry, its last number the length of the entry's body
 *     bodies              the bytes, in the order of the entries
 *
 * The head is JSON because V8 reads and writes it faster than any format implemented in JavaScript. Bodies
 * stay bytes, because no part of the lane reads them.
 */
type CallHead = readonly [
  id: number,
  operation: string,
  tenant: number,
  caller: number,
  requestId: string,
  traceparent: string,
  budgetMs: number,
  params: readonly string[],
  query: string,
  ...more:
    | [bodyBytes: number]
    | [caller: Actor | CallKey, bodyBytes: number]
    | [caller: Actor | CallKey | 0, sending: Sending, bodyBytes: number],
];
type Sending = readonly [callId: string, again: 0 | 1, idempotencyKey?: string | 0, condition?: Condition];
type AnswerHead = readonly [
  id: number,
  status: number,
  headers: Readonly<Record<string, string>> | 0,
  bodyBytes: number,
];

/** A replica that sheds a call answers with this status; it never reaches HTTP. */
export const shedStatus = 0;

/** Frames end here. Measured: no gain above. */
const maxFrameBytes = 2 * 1024 * 1024;
export const maxFrameEntries = 256;
/** A larger entry is refused; one that is larger than a frame travels alone. */
export const maxEntryBytes = 3 * 1024 * 1024;
/** The length of the head, and one of its brackets; the other counts as the last entry's comma. */
const frameOverheadBytes = 5;

/** The server's `max_payload` bounds both: it may be lower, and changes with the server. */
export const boundsOf = ({
  nc,
}: Pick<Bus, 'nc'>): { readonly entryBytes: number; readonly frameBytes: number } => {
  const most = (nc.info?.max_payload ?? maxEntryBytes) - frameOverheadBytes;
  return { entryBytes: Math.min(maxEntryBytes, most), frameBytes: Math.min(maxFrameBytes, most) };
};

/** Encoded, so that its size is known before it joins a frame. */
export interface Entry {
  readonly id: number;
  readonly head: string;
  readonly body: Uint8Array;
  readonly bytes: number;
}

export interface NumberedCall {
  readonly id: number;
  readonly call: LaneCall;
}

export const encodeCall = (id: number, call: LaneCall): Entry =>
  entryOf(
    [
      id,
      call.operation,
      call.tenant,
      call.caller,
      call.requestId,
      call.traceparent,
      Math.ceil(call.budgetMs),
      call.params,
      call.query,
      ...tailOf(call),
    ],
    call.body,
  );

export const encodeAnswer = (id: number, { status, headers, body }: Answer): Entry => {
  const bytes = body === null ? nothing : typeof body === 'string' ? Buffer.from(body) : body;
  return entryOf([id, status, headers ?? 0, bytes.byteLength], bytes);
};

const entryOf = (head: CallHead | AnswerHead, body: Uint8Array): Entry => {
  const text = JSON.stringify(head);
  return { id: head[0], head: text, body, bytes: Buffer.byteLength(text) + 1 + body.byteLength };
};

export const joinFrame = (entries: readonly Entry[]): Buffer => {
  const head = `[${entries.map((entry) => entry.head).join()}]`;
  const headBytes = Buffer.byteLength(head);
  let at = 4 + headBytes;
  const frame = Buffer.allocUnsafe(entries.reduce((sum, { body }) => sum + body.byteLength, at));
  frame.writeUInt32LE(headBytes, 0);
  frame.write(head, 4, headBytes, 'utf8');
  for (const { body } of entries) {
    frame.set(body, at);
    at += body.byteLength;
  }
  return frame;
};

export const decodeCalls = (frame: Uint8Array): NumberedCall[] => {
  const { heads, bodies } = split<CallHead>(frame);
  return heads.map((head, at) => ({
    id: head[0],
    call: {
      operation: head[1],
      tenant: head[2],
      caller: head[3],
      requestId: head[4],
      traceparent: head[5],
      budgetMs: head[6],
      params: head[7],
      query: head[8],
      body: bodies[at]!,
      ...callerOf(head[9]),
      ...(head.length === 12 && sendingOf(head[10] as Sending)),
    },
  }));
};

const tailOf = ({ key, actor, callId, again, idempotencyKey, condition, body }: LaneCall) => {
  const caller = key ?? actor;
  if (callId !== undefined) {
    const begin = [callId, again ? 1 : 0] as const;
    const sending: Sending = condition
      ? [...begin, idempotencyKey ?? 0, condition]
      : idempotencyKey
        ? [...begin, idempotencyKey]
        : begin;
    return [caller ?? 0, sending, body.byteLength] as const;
  }
  return caller ? ([caller, body.byteLength] as const) : ([body.byteLength] as const);
};

const sendingOf = ([callId, again, idempotencyKey, condition]: Sending): Partial<LaneCall> => ({
  callId,
  ...(again === 1 && { again: true }),
  ...(idempotencyKey && { idempotencyKey }),
  ...(condition && { condition }),
});

const callerOf = (caller: Actor | CallKey | number): Pick<LaneCall, 'key' | 'actor'> => {
  if (typeof caller !== 'object' || caller === null) return {};
  return 'userAgent' in caller ? { actor: caller } : { key: caller };
};

export const decodeAnswers = (frame: Uint8Array): { id: number; answer: LaneAnswer }[] => {
  const { heads, bodies } = split<AnswerHead>(frame);
  return heads.map(([id, status, headers], at) => ({
    id,
    answer: headers === 0 ? { status, body: bodies[at]! } : { status, body: bodies[at]!, headers },
  }));
};

const nothing = Buffer.alloc(0);

const split = <Head extends CallHead | AnswerHead>(
  frame: Uint8Array,
): { heads: readonly Head[]; bodies: Buffer[] } => {
  const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
  if (bytes.length < 4) throw new Error('frame is truncated');
  let at = 4 + bytes.readUInt32LE(0);
  if (at > bytes.length) throw new Error('frame head is truncated');
  const heads = JSON.parse(bytes.toString('utf8', 4, at)) as readonly Head[];
  const bodies = heads.map((head) => {
    const end = at + (head.at(-1) as number);
    if (!(end >= at && end <= bytes.length)) throw new Error('frame body is truncated');
    const body = bytes.subarray(at, end);
    at = end;
    return body;
  });
  if (at !== bytes.length) throw new Error('frame is longer than its head says');
  return { heads, bodies };
};
