import type { Msg } from '@nats-io/nats-core';
import { atTurnEnd, createBatch } from '../batch.ts';
import type { MemberChange } from '../beats.ts';
import type { Bus } from '../bus.ts';
import type { Log } from '../log.ts';
import { type Metrics, noMetrics } from '../metrics.ts';
import { eachTick } from '../repeat.ts';
import { runtimeMetrics } from '../runtime-metrics.ts';
import {
  boundsOf,
  decodeAnswers,
  type Entry,
  encodeCall,
  joinFrame,
  type LaneAnswer,
  type LaneCall,
  LaneError,
  type LaneErrorCode,
  maxFrameEntries,
  shedStatus,
} from './frame.ts';
import { followReplicas, type Replica } from './replicas.ts';

export interface LaneClient {
  /** Resolves with the answer of the service, including its errors. @throws LaneError */
  request(call: LaneCall): Promise<LaneAnswer>;
  inFlight(): number;
  close(): void;
}

/**
 * Sends the calls of one event loop tick as one NATS message, to the replica with the fewest calls in flight.
 * If a replica or a connection fails, its calls are sent again while their budget lasts: those that nobody
 * can have executed, and those that are `repeatable`. The first answer counts.
 */
export const createLaneClient = (options: LaneClientOptions): LaneClient => {
  const { bus, lane, subject, replySubject, maxInFlight = 4096, metrics = noMetrics, log } = options;
  const pending = new Map<number, PendingCall>();
  let lastId = 0;
  let lastFrame = 0;

  const frames = metrics.counter(runtimeMetrics.lane_client_frames_total).cell(lane);
  const calls = metrics.counter(runtimeMetrics.lane_client_calls_total).cell(lane);
  const failures = metrics.counter(runtimeMetrics.lane_client_failures_total);
  const resends = metrics.counter(runtimeMetrics.lane_client_resends_total);
  metrics.gauge(runtimeMetrics.lane_client_replicas, () => replicas.count(), { lane });

  const settle = (id: number): PendingCall | undefined => {
    const call = pending.get(id);
    if (!call) return undefined;
    pending.delete(id);
    if (call.replica) call.replica.inFlight--;
    return call;
  };
  const fail = (id: number, code: LaneErrorCode): void => {
    const call = settle(id);
    if (!call) return;
    failures.cell(lane, code).value++;
    call.reject(new LaneError(code, lane));
  };

  const send = (entries: readonly Entry[]): void => {
    const replica = bus.connected() ? replicas.choose() : undefined;
    const frame = ++lastFrame;
    const sendable = entries.filter(({ id }) => {
      const call = pending.get(id);
      if (!call) return false;
      // If every replica has just fallen silent, the fault may lie in between; what may be done goes to a
      // live replica.
      call.held = !bus.connected() || (!replica && (call.maybeExecuted || replicas.expected()));
      if (call.held) return false;
      call.frame = frame;
      call.replica = replica;
      return true;
    });
    if (sendable.length === 0) return;
    if (replica) {
      replica.lastFrame = frame;
      replica.inFlight += sendable.length;
    }
    const to = replica ? `${subject}.${replica.member.name}` : subject;
    bus.nc.publish(to, joinFrame(sendable), { reply: `${replySubject}.${frame}` });
    frames.value++;
    calls.value += sendable.length;
  };

  const batch = createBatch<Entry>({
    name: `lane-${lane}`,
    metrics,
    when: atTurnEnd,
    maxItems: maxFrameEntries,
    bytes: { max: () => boundsOf(bus).frameBytes, of: ({ bytes }) => bytes },
    flush: send,
    // Such a frame has not left: the connection was closed, or its new server takes less.
    onFailed: (entries, error) => {
      log?.error({ error, lane, calls: entries.length }, 'frame not sent');
      for (const { id } of entries)
        if (!pending.get(id)?.held) fail(id, mayBeDone(id) ? 'timeout' : 'disconnected');
    },
  });
  const add = (id: number, call: LaneCall): void => {
    const entry = encodeCall(id, call);
    if (entry.bytes > boundsOf(bus).entryBytes) fail(id, mayBeDone(id) ? 'timeout' : 'too_large');
    else batch.add(entry);
  };

  const recall = (call: PendingCall, maybeExecuted: boolean): void => {
    if (call.replica) call.replica.inFlight--;
    call.replica = undefined;
    call.frame = 0;
    call.held = false;
    call.maybeExecuted ||= maybeExecuted;
  };
  const sendAgain = (id: number, pendingCall: PendingCall): void => {
    const budgetMs = pendingCall.deadlineMs - performance.now();
    pendingCall.held = false;
    add(id, { ...pendingCall.call, budgetMs, again: pendingCall.maybeExecuted });
  };
  /** An earlier sending of a write must not answer: it may be refused because a later one was carried out. */
  const renumber = (id: number, call: PendingCall): number => {
    pending.delete(id);
    pending.set(++lastId, call);
    return lastId;
  };
  const resend = (id: number, call: PendingCall, reason: ResendReason): void => {
    resends.cell(lane, reason).value++;
    sendAgain(mayBeDone(id) ? renumber(id, call) : id, call);
  };
  const resendRepeatable = (reason: ResendReason, isLost: (call: PendingCall) => boolean): void => {
    for (const [id, call] of pending)
      if (call.frame > 0 && isRepeatable(call) && isLost(call)) {
        recall(call, true);
        resend(id, call, reason);
      }
  };

  const replicas = followReplicas(bus, lane, (replica, change) => {
    // A replica that is leaving answers what it has.
    if (change === 'leaving' || (change === 'unwell' && !replicas.hasOther(replica))) return;
    resendRepeatable(change, (call) => call.replica === replica && mayFollow(call, replica, change));
    if (change === 'silent') probe(replica);
  });
  /**
   * One of its calls may be what keeps a silent replica from answering, and would do the same to the next: each is sent to one
   * other at most, and only while half of its budget is left.
   */
  const mayFollow = (call: PendingCall, replica: Replica, change: MemberChange): boolean => {
    if (change !== 'silent') return call.suspectAt !== replica;
    const isFirst = call.suspectAt === undefined;
    call.suspectAt = replica;
    return isFirst && call.deadlineMs - performance.now() >= call.call.budgetMs / 2;
  };
  /** If a silent replica is dead, NATS says so (`onAbsent`), and none of its calls is to blame. */
  const probe = (replica: Replica): void => {
    const kept = [...pending.values()].filter((call) => call.replica === replica && isRepeatable(call));
    if (kept.length === 0 || !bus.connected()) return;
    const frame = ++lastFrame;
    for (const call of kept) Object.assign(call, { frame, maybeExecuted: true });
    const reply = `${replySubject}.${frame}`;
    bus.nc.publish(`${subject}.${replica.member.name}`, joinFrame([]), { reply });
  };
  bus.onReconnect(() => resendRepeatable('reconnect', () => true));

  const onAbsent = (frame: number): void => {
    const ofFrame = [...pending].filter(([, call]) => call.frame === frame);
    const replica = ofFrame[0]?.[1].replica;
    for (const [, call] of ofFrame) recall(call, false);
    if (replica) {
      resendRepeatable('absent', (call) => call.replica === replica);
      replicas.lose(replica);
    }
    for (const [id, call] of ofFrame) {
      if (replica) resend(id, call, 'absent');
      else if (replicas.expected()) call.held = true;
      else fail(id, call.maybeExecuted ? 'timeout' : 'absent');
    }
  };

  /** If so, no error may say that nothing was done. */
  const mayBeDone = (id: number): boolean => {
    const { maybeExecuted, call } = pending.get(id) ?? {};
    return maybeExecuted === true && call?.callId !== undefined;
  };

  const onReply = (error: Error | null, message: Msg): void => {
    if (error) return;
    if (message.data.length === 0 && message.headers?.code === 503) {
      onAbsent(Number(message.subject.slice(message.subject.lastIndexOf('.') + 1)));
      return;
    }
    let answers: ReturnType<typeof decodeAnswers>;
    try {
      answers = decodeAnswers(message.data);
    } catch (cause) {
      log?.error({ error: cause, lane }, 'answer frame cannot be read');
      return;
    }
    for (const { id, answer } of answers) {
      if (answer.status === shedStatus) fail(id, mayBeDone(id) ? 'timeout' : 'overloaded');
      else if (answer.status === unavailableStatus && mayBeDone(id)) fail(id, 'timeout');
      else if (answer.status !== unavailableStatus || !askAnother(id)) settle(id)?.resolve(answer);
    }
  };
  const subscription = bus.nc.subscribe(`${replySubject}.*`, { callback: onReply });

  const askAnother = (id: number): boolean => {
    const call = pending.get(id);
    if (!call || !replicas.hasOther(call.replica)) return false;
    if (call.replica) replicas.avoid(call.replica);
    if (!call.call.repeatable || call.declined) return false;
    call.declined = true;
    recall(call, false);
    resend(id, call, 'unavailable');
    return true;
  };

  let stopSweeping: (() => void) | undefined;
  const sweep = (): void => {
    if (pending.size === 0) {
      stopSweeping?.();
      stopSweeping = undefined;
    }
    const nowMs = performance.now();
    const connected = bus.connected();
    for (const [id, call] of pending) {
      if (call.deadlineMs <= nowMs) {
        const unsent = call.held && !call.maybeExecuted;
        fail(id, unsent ? (connected ? 'absent' : 'disconnected') : 'timeout');
      } else if (call.held && connected) sendAgain(id, call);
    }
  };

  let closed = false;
  const request = (call: LaneCall): Promise<LaneAnswer> =>
    new Promise((resolve, reject) => {
      const id = ++lastId;
      const deadlineMs = performance.now() + call.budgetMs;
      pending.set(id, { ...unsent, resolve, reject, call, deadlineMs });
      stopSweeping ??= eachTick(sweep, sweepEveryMs);
      if (closed) return fail(id, 'closed');
      if (pending.size > maxInFlight) return fail(id, 'overloaded');
      add(id, call);
    });

  return {
    request,
    inFlight: () => pending.size,
    close: () => {
      closed = true;
      stopSweeping?.();
      replicas.close();
      subscription.unsubscribe();
      for (const id of [...pending.keys()]) fail(id, 'closed');
    },
  };
};

export interface LaneClientOptions {
  readonly bus: Bus;
  readonly lane: string;
  /** The subject of all replicas; each listens below it too, under its own name. */
  readonly subject: string;
  /** Answers come to `<replySubject>.<frame>`; unique to this client. */
  readonly replySubject: string;
  readonly maxInFlight?: number;
  readonly metrics?: Metrics;
  readonly log?: Log;
}

/** Only a replica that sends beats knows `callId`; others in the queue group may be of an older release. */
const isRepeatable = ({ call, replica }: PendingCall): boolean =>
  call.repeatable === true && (call.callId === undefined || replica !== undefined);

type ResendReason = MemberChange | 'absent' | 'reconnect' | 'unavailable';

interface PendingCall {
  readonly resolve: (answer: LaneAnswer) => void;
  readonly reject: (error: LaneError) => void;
  readonly call: LaneCall;
  readonly deadlineMs: number;
  frame: number;
  replica: Replica | undefined;
  held: boolean;
  maybeExecuted: boolean;
  declined: boolean;
  /** The replica that fell silent while it had the call. */
  suspectAt: Replica | undefined;
}

const unsent = {
  ...{ frame: 0, replica: undefined, held: false, maybeExecuted: false },
  ...{ declined: false, suspectAt: undefined },
};

const unavailableStatus = 503;
const sweepEveryMs = 50;
