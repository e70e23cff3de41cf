import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ConnectionOptions, connect, type NatsConnection, type Server } from '@nats-io/transport-node';
import type { Log } from './log.ts';
import { eachTick } from './repeat.ts';

/**
 * A second connection, to another NATS server, that only asks whether servers answer. If the process's own
 * server falls silent or is cut off, the process leaves it within half a second. Without the standby it would leave a silent
 * server after some five seconds, and never one that is cut off from the cluster, which answers pings.
 */
export interface Standby {
  answering(): string | undefined;
  /** Whether it can tell a failed server: it is connected, and probes have arrived through it. */
  isReady(): boolean;
  /** The servers do not know this release's permissions yet, so probes prove nothing. */
  stopProbing(): void;
  close(): Promise<void>;
}

const askEveryMs = 100;
/** Without an answer for this long, while the other server answers, a server is silent. */
const silentAfterMs = 150;
/** Messages between two servers that take longer than this are lost. */
const cutOffAfterMs = 150;
/** Each change of servers doubles the patience for this long, so that an overloaded process does not change all the time. */
const calmMs = 60_000;
const maxPatience = 16;
const avoidMs = 30_000;

export const leaveReasons = ['silent', 'cut off'] as const;
type LeaveReason = (typeof leaveReasons)[number];

/**
 * Every tick asks both servers for a sign of life (PING), and sends a probe over the main connection to the
 * standby.
 * - If only the standby's server answers a question asked later, the main server is silent. After a stall of
 *   the event loop, both answers are there.
 * - If both answer but no probe arrives, one of the two is cut off from the cluster. The standby then moves
 *   to a third server. If no probe arrives there either, the main server is cut off.
 */
export const keepStandby = (options: StandbyOptions): Standby => {
  const { nc, connected, servers, probeSubject, leave, log } = options;
  let standby: NatsConnection | undefined;
  let up = false;
  let closed = false;
  let answeredMs = Number.NEGATIVE_INFINITY;
  let standbyAsked = false;
  /** When the main server was asked the question that it has not answered. */
  let mainAskedMs: number | undefined;
  /** When the main server was asked the latest question that it has answered. */
  let mainAnsweredMs = Number.NEGATIVE_INFINITY;
  let probing = true;
  /** When the first probe was sent that has not arrived. */
  let probedMs: number | undefined;
  /** Whether a probe of the present main server has ever arrived. Before, a missing probe proves nothing. */
  let provedOnce = false;
  /** Standby's servers that no probe reached from the present main server. */
  const unreached = new Set<string>();
  let mainServer = nc.getServer();
  const leftMs = new Map<string, number>();
  let patience = 1;
  let changedMs = Number.NEGATIVE_INFINITY;

  const elsewhere = (servers: readonly Server[]): Server | null => {
    const others = servers.filter(({ listen }) => listen !== nc.getServer());
    const avoided = ({ listen }: Server): number =>
      performance.now() - (leftMs.get(listen) ?? Number.NEGATIVE_INFINITY) < avoidMs || unreached.has(listen)
        ? 1
        : 0;
    return others.toSorted((a, b) => avoided(a) - avoided(b) || a.lastConnect - b.lastConnect)[0] ?? null;
  };
  const reset = (): void => {
    mainAskedMs = undefined;
    probedMs = undefined;
  };

  void connect({ ...options.connection, waitOnFirstConnect: true, reconnectToServer: elsewhere }).then(
    async (connection) => {
      if (closed) return connection.close();
      standby = connection;
      up = true;
      connection.subscribe(probeSubject, {
        callback: (error) => {
          if (error) return;
          probedMs = undefined;
          provedOnce = true;
          unreached.clear();
        },
      });
      for await (const { type } of connection.status()) {
        if (type !== 'disconnect' && type !== 'reconnect') continue;
        up = type === 'reconnect';
        reset();
      }
    },
    (error: unknown) => log?.warn({ error }, 'no standby connection to NATS'),
  );

  const change = (reason: LeaveReason): void => {
    const nowMs = performance.now();
    patience = nowMs - changedMs < calmMs ? Math.min(maxPatience, patience * 2) : 2;
    changedMs = nowMs;
    leftMs.set(nc.getServer(), nowMs);
    reset();
    leave(reason);
  };

  const judge = async (askedMs: number): Promise<void> => {
    if (performance.now() - changedMs > calmMs) patience = 1;
    const isOver = (sinceMs: number | undefined, afterMs: number): boolean =>
      sinceMs !== undefined && sinceMs <= askedMs && performance.now() - sinceMs >= afterMs * patience;
    if (isOver(mainAskedMs, silentAfterMs)) {
      // An answer may have arrived in this turn of the event loop; and the standby must answer once more.
      await nextTurn();
      await standby?.flush();
      if (connected() && isOver(mainAskedMs, silentAfterMs)) change('silent');
    } else if (servers > 2 && provedOnce && tookProbe() && isOver(probedMs, cutOffAfterMs)) {
      await nextTurn();
      if (!standby || !up || !connected() || !isOver(probedMs, cutOffAfterMs)) return;
      unreached.add(standby.getServer());
      if (unreached.size > 1) change('cut off');
      else {
        reset();
        await standby.reconnect();
      }
    }
  };

  /** The main server answers in order: an answer to a question asked after the probe proves that it has the probe. */
  const tookProbe = (): boolean => probedMs !== undefined && mainAnsweredMs > probedMs;

  const ask = (): void => {
    if (mainServer !== nc.getServer()) {
      mainServer = nc.getServer();
      provedOnce = false;
      unreached.clear();
      reset();
    }
    if (!standby || !up || !connected()) {
      reset();
      return;
    }
    if (standby.getServer() === mainServer) {
      void standby.reconnect();
      return;
    }
    const nowMs = performance.now();
    if (mainAskedMs === undefined) {
      mainAskedMs = nowMs;
      const over = (): void => {
        mainAskedMs = undefined;
      };
      nc.flush().then(() => {
        mainAnsweredMs = nowMs;
        over();
      }, over);
    }
    if (probing) {
      probedMs ??= nowMs;
      nc.publish(probeSubject);
    }
    if (standbyAsked) return;
    standbyAsked = true;
    standby
      .flush()
      .then(() => {
        answeredMs = performance.now();
        return judge(nowMs);
      })
      .catch(() => {})
      .finally(() => {
        standbyAsked = false;
      });
  };
  const stopAsking = eachTick(ask, askEveryMs);

  return {
    answering: () =>
      up && performance.now() - answeredMs < 2 * silentAfterMs ? standby?.getServer() : undefined,
    isReady: () => up && (servers < 3 || provedOnce || !probing),
    stopProbing: () => {
      probing = false;
      probedMs = undefined;
    },
    close: async () => {
      closed = true;
      stopAsking();
      await standby?.close();
    },
  };
};

interface StandbyOptions {
  readonly nc: NatsConnection;
  readonly connected: () => boolean;
  readonly connection: ConnectionOptions;
  readonly servers: number;
  /** Unique to this process; it may publish and listen there. */
  readonly probeSubject: string;
  readonly leave: (reason: LeaveReason) => void;
  readonly log?: Log | undefined;
}
