import { createHash } from 'node:crypto';
import type { LaneCall } from '../lanes/call.ts';

/** By what a call, or a client's request, is known again. */
export interface Identity {
  readonly companyId: number;
  /** The call's name: 16 bytes. */
  readonly callId: Buffer;
  /** 16 bytes: the call's name, or a hash of the client's `Idempotency-Key` with the first bit set. */
  readonly key: Buffer;
  /** A hash of the request, if the client sent an `Idempotency-Key`; null for a call's name, which names one request. */
  readonly fingerprint: Buffer | null;
  /** The call was sent before, and may have been carried out. */
  readonly again: boolean;
}

/** Undefined for a call that is sent only once. */
export const identify = (call: LaneCall): Identity | undefined => {
  const { tenant: companyId, callId: name, again = false, idempotencyKey } = call;
  if (name === undefined || !isCallId.test(name)) return undefined;
  const callId = Buffer.from(name, 'hex');
  if (idempotencyKey === undefined) return { companyId, callId, key: callId, fingerprint: null, again };
  return { companyId, callId, key: keyOf(idempotencyKey), fingerprint: fingerprintOf(call), again };
};

/** A call's name begins with a time in milliseconds, whose first bit is never set. */
const isCallId = /^[0-7][\da-f]{31}$/;

const keyOf = (idempotencyKey: string): Buffer => {
  const key = createHash('sha256').update(idempotencyKey).digest().subarray(0, 16);
  key[0]! |= 0x80;
  return key;
};

const fingerprintOf = ({ operation, params, query, body }: LaneCall): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([operation, params, query]))
    .update(body)
    .digest()
    .subarray(0, 16);
