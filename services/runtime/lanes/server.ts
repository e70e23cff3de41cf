import { nuid } from '@nats-io/nats-core';
import type { Msg } from '@nats-io/transport-node';
import { atTurnEnd } from '../batch.ts';
import { startBeats } from '../beats.ts';
import type { Bus } from '../bus.ts';
import { createInFlight } from '../in-flight.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { runtimeMetrics } from '../runtime-metrics.ts';
import {
  type Answer,
  boundsOf,
  decodeCalls,
  type Entry,
  encodeAnswer,
  joinFrame,
  type LaneCall,
  LaneError,
  maxFrameEntries,
  shedStatus,
} from './frame.ts';

export interface Call extends LaneCall {
  /** `performance.now()` at which the caller gives up. */
  readonly deadlineMs: number;
}

/** All calls of one operation that arrived in one tick; one promise per call, in order. */
export type LaneHandler = (calls: readonly Call[]) => readonly Promise<Answer>[];

export const each =
  (handle: (call: Call) => Promise<Answer>): LaneHandler =>
  (calls) =>
    calls.map((call) => handle(call));

export interface LaneServer {
  inFlight(): number;
  drain(): Promise<void>;
}

/** A replica is in the lane's queue group too, for clients that have not heard its beat yet. */
export const serveLane = async (options: LaneServerOptions): Promise<LaneServer> => {
  const { bus, lane, subject, handlers, onUnknown, onError, well, metrics, log } = options;
  const { answersTo = '', maxInFlight = 2048 } = options;
  const inFlight = createInFlight();
  let arrived: TakenCall[] = [];
  let ready: TakenCall[] = [];

  const taken = metrics?.counter(runtimeMetrics.lane_server_calls_total).cell(lane);
  const shed = metrics?.counter(runtimeMetrics.lane_server_shed_total).cell(lane);
  const expired = metrics?.counter(runtimeMetrics.lane_server_expired_total).cell(lane);
  const batches = metrics?.counter(runtimeMetrics.lane_server_batches_total);
  const elapsed = metrics?.timing(runtimeMetrics.lane_server_call_seconds);

  const answerWith = (entry: TakenCall, answer: Answer): void => {
    const { id, call } = entry;
    let encoded = encodeAnswer(id, answer);
    if (encoded.bytes > boundsOf(bus).entryBytes)
      encoded = encodeAnswer(id, onError(call, new LaneError('too_large', lane)));
    entry.encoded = encoded;
    if (ready.length === 0) atTurnEnd(sendReady);
    ready.push(entry);
  };

  /** If it cannot be sent, the connection was closed: its callers send their calls again, or time out. */
  const sendFrame = (replyTo: string, frame: readonly Entry[]): void => {
    try {
      bus.nc.publish(replyTo, joinFrame(frame));
    } catch (error) {
      log?.error({ error, lane, answers: frame.length }, 'answers not sent');
    }
  };
  const sendReady = (): void => {
    const entries = ready;
    ready = [];
    const { frameBytes } = boundsOf(bus);
    const byClient = Map.groupBy(entries, (entry) => entry.replyTo);
    for (const [replyTo, answers] of byClient) {
      let frame: Entry[] = [];
      let sum = 0;
      for (const { encoded } of answers) {
        if (frame.length === maxFrameEntries || (frame.length > 0 && sum + encoded.bytes > frameBytes)) {
          sendFrame(replyTo, frame);
          frame = [];
          sum = 0;
        }
        frame.push(encoded);
        sum += encoded.bytes;
      }
      sendFrame(replyTo, frame);
    }
    const nowMs = performance.now();
    for (const { arrivedMs } of entries) {
      if (arrivedMs === 0) continue;
      inFlight.end();
      elapsed?.observe(nowMs - arrivedMs);
    }
  };

  const runArrived = (): void => {
    const entries = arrived;
    arrived = [];
    const byOperation = Map.groupBy(entries, (entry) => entry.call.operation);
    for (const [operation, group] of byOperation) {
      const nowMs = performance.now();
      const live = group.filter((entry) => entry.call.deadlineMs > nowMs);
      if (live.length < group.length) {
        if (expired) expired.value += group.length - live.length;
        inFlight.end(group.length - live.length);
      }
      if (live.length === 0) continue;
      const cell = batches?.cell(handlers[operation] ? operation : 'unknown');
      if (cell) cell.value++;
      let promises: readonly Promise<Answer>[];
      try {
        const handler = handlers[operation];
        const calls = live.map((entry) => entry.call);
        promises = handler ? handler(calls) : calls.map(async (call) => onUnknown(call));
      } catch (error) {
        promises = live.map(() => Promise.reject(error));
      }
      live.forEach((entry, at) => {
        const promise = promises[at] ?? Promise.reject(new Error(`${operation}: no promise for call ${at}`));
        promise.then(
          (answer) => answerWith(entry, answer),
          (error: unknown) => answerWith(entry, onError(entry.call, error)),
        );
      });
    }
  };

  const onFrame = (error: Error | null, message: Msg): void => {
    if (error || !message.reply || !message.reply.startsWith(answersTo)) return;
    let entries: ReturnType<typeof decodeCalls>;
    try {
      entries = decodeCalls(message.data);
    } catch (cause) {
      log?.error({ error: cause, lane }, 'request frame cannot be read');
      return;
    }
    const arrivedMs = performance.now();
    const replyTo = `${message.reply.slice(0, message.reply.lastIndexOf('.'))}.0`;
    if (taken) taken.value += entries.length;
    for (const { id, call } of entries) {
      const entry: TakenCall = {
        id,
        replyTo,
        arrivedMs,
        call: Object.assign(call, { deadlineMs: arrivedMs + call.budgetMs }),
        encoded: unanswered,
      };
      if (inFlight.count() >= maxInFlight) {
        if (shed) shed.value++;
        entry.arrivedMs = 0;
        answerWith(entry, shedAnswer);
        continue;
      }
      inFlight.begin();
      if (arrived.length === 0) atTurnEnd(runArrived);
      arrived.push(entry);
    }
  };

  const replica = nuid.next();
  const subscriptions = [
    bus.nc.subscribe(subject, { queue: lane, callback: onFrame }),
    bus.nc.subscribe(`${subject}.${replica}`, { callback: onFrame }),
  ];
  await bus.nc.flush();
  const beats = startBeats({ bus, group: lane, member: replica, ...(well && { well }) });

  return {
    inFlight: inFlight.count,
    drain: async () => {
      beats.leave();
      if (!bus.connected()) for (const subscription of subscriptions) subscription.unsubscribe();
      else
        await Promise.race([
          Promise.allSettled(subscriptions.map((subscription) => subscription.drain())),
          bus.nc.closed(),
        ]);
      await inFlight.idle();
      await bus.flush();
    },
  };
};

const shedAnswer: Answer = { status: shedStatus, body: null };
const unanswered = encodeAnswer(0, shedAnswer);

export interface LaneServerOptions {
  readonly bus: Bus;
  readonly lane: string;
  readonly subject: string;
  readonly handlers: Readonly<Record<string, LaneHandler | undefined>>;
  readonly onUnknown: (call: Call) => Answer;
  /** While it is false, calls go to others. */
  readonly well?: () => boolean;
  readonly answersTo?: string;
  /** Must not throw. */
  readonly onError: (call: Call, error: unknown) => Answer;
  readonly maxInFlight?: number;
  readonly metrics?: Metrics;
  readonly log?: Log;
}

interface TakenCall {
  readonly id: number;
  readonly replyTo: string;
  /** 0 marks a shed call, which never counted as in flight. */
  arrivedMs: number;
  readonly call: Call;
  encoded: Entry;
}
