import { randomInt } from 'node:crypto';
import { type Bucket, type LoggedRequest, maxLoggedRequests, requestsLoggedSubject } from '@causeway/proto';
import { type Bus, eachTick, type Metrics } from '@causeway/runtime';
import { gatewayMetrics } from './metrics.ts';

/**
 * Sends what keys ask for to `access`, for the request log, the use of limits and the last use of each key (contract, "Request log").
 * No request ever waits for it.
 */
export interface RequestLog {
  note(request: NotedRequest): void;
  flush(): void;
}

export interface NotedRequest {
  readonly companyId: number;
  readonly keyId: number;
  readonly isPrevious: boolean;
  readonly operation: string;
  readonly method: string;
  readonly params: readonly string[];
  readonly status: number;
  readonly durationMs: number;
  readonly requestId: string;
  readonly address: string;
  readonly bucket: Bucket | '' | null;
}

const sendMs = 1000;
/** The further requests of a kind share a row for so long: each row costs `access` and MySQL as much as a lookup. */
const usualRoundMs = 10_000;
/** A round in which so many keys ask becomes a long one: else they take a tenth of the processor time of all lookups. */
const manyKeys = 1_000;
const ticksOfLongRound = 6;
/** Of a key in a round. */
const listedOfKey = 100;
/** Of all keys in a round. The first one of a key is listed anyway, because a row for its kind would cost as much. */
const listedOfAll = 5_000;
/** Rows, and kinds of requests, that wait while NATS is unreachable; further ones are dropped and counted. */
const maxWaiting = 10_000;

export const openRequestLog = ({ bus, metrics, roundMs = usualRoundMs }: RequestLogOptions): RequestLog => {
  const dropped = metrics.counter(gatewayMetrics.gateway_request_log_dropped_total).cell();
  let rows: LoggedRequest[] = [];
  const sums = new Map<string, { row: LoggedRequest; requests: number; durationMs: number }>();
  const listed = new Map<number, number>();
  let listedNow = 0;
  let ticks = 0;
  let serial = randomInt(2 ** 47);

  const send = (): void => {
    if (!bus.connected()) return;
    const ready = rows;
    rows = [];
    for (let at = 0; at < ready.length; at += maxLoggedRequests)
      bus.nc.publish(requestsLoggedSubject, JSON.stringify(ready.slice(at, at + maxLoggedRequests)));
  };
  const endRound = (): void => {
    ticks = 0;
    listedNow = 0;
    listed.clear();
    if (!bus.connected()) return;
    for (const { row, requests, durationMs } of sums.values())
      rows.push(
        row
          .with(durationAt, Math.round(durationMs / requests))
          .with(-1, requests) as unknown as LoggedRequest,
      );
    sums.clear();
    send();
  };
  eachTick(() => {
    ticks++;
    if (listed.size <= manyKeys || ticks >= ticksOfLongRound) endRound();
  }, roundMs);
  eachTick(send, sendMs);

  const rowOf = (request: NotedRequest, nowMs: number): LoggedRequest => {
    const { companyId, keyId, operation, method, params, status, requestId, address, bucket } = request;
    const ids = params.map((param) => (isId.test(param) ? param : '')).join();
    const durationMs = Math.round(request.durationMs);
    return [
      ...([companyId, keyId, nowMs, serial++, operation, method, ids, status] as const),
      ...([durationMs, requestId, address, request.isPrevious ? 1 : 0, bucket, 1] as const),
    ];
  };

  return {
    note: (request) => {
      const { keyId, operation, method, status, isPrevious, bucket, durationMs } = request;
      const nowMs = Date.now();
      const before = listed.get(keyId) ?? 0;
      const isListed = before === 0 || (before < listedOfKey && listedNow < listedOfAll);
      if (isListed && rows.length < maxWaiting) {
        listed.set(keyId, before + 1);
        listedNow++;
        rows.push(rowOf(request, nowMs));
        return;
      }
      // Uses of limits are counted by the minute.
      const minute = Math.floor(nowMs / 60_000);
      const name = `${keyId} ${operation} ${method} ${status} ${isPrevious} ${bucket} ${minute}`;
      const sum = sums.get(name);
      if (sum) {
        sum.requests++;
        sum.durationMs += durationMs;
        return;
      }
      if (sums.size === maxWaiting) endRound();
      if (sums.size < maxWaiting) sums.set(name, { row: rowOf(request, nowMs), requests: 1, durationMs });
      else dropped.value++;
    },
    flush: endRound,
  };
};

const isId = /^\d{1,16}$/;
const durationAt = 8;

interface RequestLogOptions {
  readonly bus: Bus;
  readonly metrics: Metrics;
  readonly roundMs?: number;
}
