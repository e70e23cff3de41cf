import { setTimeout as sleep } from 'node:timers/promises';
import { limitCountSubject } from '@causeway/proto';
import {
  type Bus,
  eachTick,
  isRequest,
  type Log,
  type Metrics,
  randomHex,
  shareRun,
} from '@causeway/runtime';
import type { Msg } from '@nats-io/transport-node';
import type { Asker } from './ask.ts';
import type { Positions, Takes } from './counts.ts';
import { openJetStreamLog } from './log.ts';
import { claimOwnership, type Listener, LogsSilentError, MovedError, type Owner } from './owner.ts';
import { createQuorum } from './quorum.ts';

interface Route {
  /**
   * Counts before a time of `performance.now()`.
   * @throws LogsSilentError if no owner could be found or counted the requests in time. They may have been counted.
   */
  count(window: number, takes: Takes, untilMs: number): Promise<Positions>;
  warm(): Promise<void>;
  owned(): boolean;
  /** Releases the counts if this process owns them. */
  drain(): Promise<void>;
}

interface CountRequest {
  readonly window: number;
  readonly takes: Takes;
  /** The same if the message is sent again, so that its requests are not counted again. */
  readonly id: string;
}

/**
 * The epoch of the logs' last messages identifies the owner. If no gateway listens under it, or the owner
 * says nothing for `ownerSilentMs`, the gateway that needs an owner takes over.
 */
export const createRoute = ({ bus, asker, logs, timeoutMs, metrics, logger, tally }: RouteOptions): Route => {
  const { ask, connectedBy, lostSince } = asker;
  const sender = randomHex(8);
  let batches = 0;
  let local: Owner | undefined;
  let epoch: string | undefined;
  /** The epoch of an owner that is known to be gone. */
  let deadEpoch: string | undefined;
  let heardMs = Number.NEGATIVE_INFINITY;
  const quorum = createQuorum({
    logs: logs.map((log) => openJetStreamLog(ask, { log, timeoutMs: logSilentMs })),
    newStore: () => randomHex(8),
    onStoresLost: () => logger?.error('limit counts lost with the stores of several NATS servers'),
  });

  const findOwner = (): Promise<string | null | undefined> => new Promise(quorum.findOwner);

  const listen = (owned: Owner): Listener => {
    // No gateway sends a message again after its timeout, and all have the same; it may be a second under way.
    const answers = createRecent<Promise<Positions>>(timeoutMs + 1_000);
    const subscription = bus.nc.subscribe(limitCountSubject(owned.epoch), {
      callback: (error: Error | null, message: Msg) => {
        if (error || !isRequest(message)) return;
        const { window, takes, id } = message.json<CountRequest>();
        const takenMs = performance.now();
        const respond = (text: string): void => {
          // NATS lets a connection answer only requests that came over it. The gateway sends its request again.
          if (!lostSince(takenMs)) message.respond(text);
        };
        answers(id, () => owned.count(window, takes, timeoutMs)).then(
          (positions) => respond(JSON.stringify(positions)),
          () => respond('"moved"'),
        );
      },
    });
    return { close: () => subscription.drain().catch(() => {}) };
  };

  const claim = async (): Promise<void> => {
    try {
      local = await claimOwnership(quorum, listen, { metrics });
      epoch = local.epoch;
      logger?.info({ epoch }, 'limit counts taken over');
    } catch (error) {
      if (!(error instanceof MovedError)) throw error;
      // A live owner exists: another gateway took over, or the owner that seemed dead was only slow.
      deadEpoch = undefined;
      await sleep(Math.random() * maxRivalryMs);
    }
  };
  /** Concurrent calls share one attempt. @throws LogsSilentError */
  const resolveOwner = shareRun(async () => {
    const found = await findOwner();
    if (found === undefined) throw new LogsSilentError('too few logs answer');
    if (found !== null && found !== deadEpoch) epoch = found;
    else await claim();
  });
  /** An owner without requests does not notice that the logs name another owner. */
  const check = (): void => {
    const localOwner = local;
    if (localOwner?.owned())
      quorum.findOwner((found) => {
        if (!found || found === localOwner.epoch || !localOwner.owned()) return;
        logger?.warn(
          { epoch: localOwner.epoch, owner: found },
          'another gateway counts requests: ownership given up',
        );
        localOwner.resign();
        forget(localOwner.epoch, true);
      });
  };
  const stopChecks = eachTick(check, checkMs);
  const forget = (owner: string, dead: boolean): void => {
    if (dead) deadEpoch = owner;
    if (epoch === owner) epoch = undefined;
    if (local?.epoch === owner) local = undefined;
  };

  /** @returns undefined if the request must be tried again. */
  const attempt = async (request: CountRequest, untilMs: number): Promise<Positions | undefined> => {
    if (epoch === undefined) await resolveOwner();
    if (epoch === undefined) return undefined;
    if (local?.epoch !== epoch) {
      const positions = await askOwner(epoch, request, untilMs);
      tally(positions ? 'remote' : 'moved');
      return positions;
    }
    const localOwner = local;
    try {
      const positions = await localOwner.count(request.window, request.takes, untilMs - performance.now());
      tally('local');
      return positions;
    } catch (error) {
      if (!(error instanceof MovedError)) throw error;
      if (performance.now() < untilMs) forget(localOwner.epoch, true);
      tally('moved');
      return undefined;
    }
  };

  /** Asks again soon, because the message may be lost. The owner counts it once. */
  const askOwner = async (
    owner: string,
    request: CountRequest,
    untilMs: number,
  ): Promise<Positions | undefined> => {
    const payload = JSON.stringify(request);
    let silentSinceMs = performance.now();
    let silences = 0;
    let absences = 0;
    while (performance.now() < untilMs && epoch === owner) {
      const askedMs = performance.now();
      const tryMs = Math.min(askAgainMs, untilMs - askedMs);
      const reply = await new Promise<Msg | 'nobody' | undefined>((resolve) =>
        ask(limitCountSubject(owner), payload, { timeoutMs: tryMs }, resolve),
      );
      if (reply === 'nobody') {
        // The owner may be changing its NATS server, or the servers do not know yet that it listens.
        await sleep(absentMs);
        const named = await findOwner();
        if (named !== owner && named !== undefined) forget(owner, false);
        else if (++absences === maxAbsences) forget(owner, true);
      } else if (reply) {
        heardMs = performance.now();
        const positions = reply.json<Positions | 'moved'>();
        if (positions !== 'moved') return positions;
        forget(owner, false);
      } else if (lostSince(askedMs)) {
        // The silence was this process's own.
        silentSinceMs = performance.now();
        silences = 0;
      } else {
        // After a single silence, it may have been this process that hung.
        const silentMs = performance.now() - Math.max(silentSinceMs, heardMs);
        if (++silences >= 2 && silentMs >= ownerSilentMs) forget(owner, true);
      }
    }
    return undefined;
  };

  return {
    count: async (window, takes, untilMs) => {
      const request: CountRequest = { window, takes, id: `${sender}.${++batches}` };
      let silent: LogsSilentError | undefined;
      while (performance.now() < untilMs) {
        // The owner's own requests take no turn, so that the append leaves together with the calls to services.
        if (!bus.connected() && !(await connectedBy(untilMs))) continue;
        try {
          const positions = await attempt(request, untilMs);
          if (positions) return positions;
        } catch (error) {
          if (!(error instanceof LogsSilentError)) throw error;
          silent = error;
          await sleep(retryMs);
        }
      }
      // Made only where it is thrown: it captures a stack trace.
      throw silent ?? new LogsSilentError('no owner counted in time');
    },
    warm: resolveOwner,
    owned: () => local?.owned() === true,
    drain: async () => {
      stopChecks();
      await local?.release();
    },
  };
};

/** A message that is sent again gets the same answer. */
const createRecent = <Answer>(keepMs: number): ((id: string, make: () => Answer) => Answer) => {
  let [recent, older] = [new Map<string, Answer>(), new Map<string, Answer>()];
  let sinceMs = performance.now();
  return (id, make) => {
    if (performance.now() - sinceMs > keepMs) {
      [recent, older] = [new Map(), recent];
      sinceMs = performance.now();
    }
    const answer = recent.get(id) ?? older.get(id) ?? make();
    recent.set(id, answer);
    return answer;
  };
};

const askAgainMs = 130;
/** A silent owner hangs or is cut off. Short enough that a request can still be counted. */
const ownerSilentMs = 380;
const logSilentMs = 250;
/** Gateways that fenced each other off try again at different times. */
const maxRivalryMs = 10;
const retryMs = 20;
const maxAbsences = 4;
const absentMs = 25;
const checkMs = 5_000;

interface RouteOptions {
  readonly bus: Bus;
  readonly asker: Asker;
  readonly logs: readonly number[];
  readonly timeoutMs: number;
  readonly metrics: Metrics;
  readonly logger: Log | undefined;
  readonly tally: (outcome: string) => void;
}
