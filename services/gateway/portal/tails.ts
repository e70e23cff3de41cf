import { deliveryTailSubject, Problem, sessionsEndedSubject } from '@causeway/proto';
import { type Bus, eachTick, type Metrics, readNotice } from '@causeway/runtime';
import type { Subscription } from '@nats-io/transport-node';
import type { HttpResponse } from '../http/uws.ts';
import { gatewayMetrics } from '../metrics.ts';
import type { KnownSession } from './sessions.ts';

export interface Tails {
  /** @throws Problem `too_many_requests`, which names the limit that is reached */
  requireRoom(session: KnownSession): void;
  /** @param holds asks whether the session is still valid, without extending it. */
  open(response: HttpResponse, session: KnownSession, holds: () => Promise<boolean>): void;
  gone(response: HttpResponse): void;
  /** Ends all tails; browsers reconnect by themselves, to another gateway. */
  close(): void;
}

interface Tail {
  readonly response: HttpResponse;
  readonly companyId: number;
  readonly sessionId: number;
  /** The browser reads more slowly than entries arrive: they are counted instead of kept. */
  blocked: boolean;
  dropped: number;
}

interface TailLimits {
  readonly all: number;
  readonly company: number;
  readonly session: number;
}

/** Also shorter than a proxy's idle timeout. */
const beatMs = 5000;

export const createTails = ({ bus, metrics, limits }: TailsOptions): Tails => {
  const tails = new Map<HttpResponse, Tail>();
  const feeds = new Map<number, { readonly subscription: Subscription; open: number }>();
  /** Each session is checked once per beat, however many tails it has. */
  const sessions = new Map<number, { readonly holds: () => Promise<boolean>; open: number }>();
  metrics.gauge(gatewayMetrics.gateway_portal_tails, () => tails.size);

  const write = (tail: Tail, text: string): void => {
    tail.response.cork(() => {
      if (!tail.response.write(text)) tail.blocked = true;
    });
  };

  const forget = (tail: Tail): void => {
    if (!tails.delete(tail.response)) return;
    const session = sessions.get(tail.sessionId);
    if (session && --session.open === 0) sessions.delete(tail.sessionId);
    const feed = feeds.get(tail.companyId);
    if (!feed || --feed.open > 0) return;
    feed.subscription.unsubscribe();
    feeds.delete(tail.companyId);
  };
  const end = (tail: Tail, last: string): void => {
    forget(tail);
    tail.response.cork(() => {
      // Text passed to `end` is lost if it also closes the connection.
      if (last !== '') tail.response.write(last);
      tail.response.end(undefined, true);
    });
  };

  const listen = (companyId: number): void => {
    const feed = feeds.get(companyId);
    if (feed) {
      feed.open++;
      return;
    }
    const subscription = bus.nc.subscribe(deliveryTailSubject(companyId), {
      callback: (error, message) => {
        const entries = error ? undefined : readNotice(message);
        if (!entries) return;
        const text = `event: attempts\ndata: ${JSON.stringify(entries)}\n\n`;
        for (const tail of [...tails.values()]) {
          if (tail.companyId !== companyId) continue;
          if (tail.blocked) tail.dropped += entries.length;
          else write(tail, text);
        }
      },
    });
    feeds.set(companyId, { subscription, open: 1 });
  };

  const endSessions = (ids: readonly number[]): void => {
    for (const tail of [...tails.values()]) if (ids.includes(tail.sessionId)) end(tail, ended);
  };
  const ends = bus.nc.subscribe(sessionsEndedSubject, {
    callback: (error, message) => {
      const ids = error ? undefined : readNotice<number>(message);
      if (ids) endSessions(ids);
    },
  });

  /** The broadcast may be missed, and sessions expire without one. */
  const stopBeating = eachTick(() => {
    for (const tail of [...tails.values()]) if (!tail.blocked) write(tail, ': beat\n\n');
    for (const [sessionId, session] of sessions)
      session.holds().then(
        (holds) => {
          if (!holds) endSessions([sessionId]);
        },
        () => {}, // `access` is unreachable; the next beat asks again.
      );
  }, beatMs);

  return {
    requireRoom: ({ companyId, user }) => {
      const { all, company, session } = limits;
      if ((sessions.get(user.sessionId)?.open ?? 0) >= session)
        throw tooManyTails(
          `${session} live views are open in this session already; close one and connect again`,
          session,
        );
      if ((feeds.get(companyId)?.open ?? 0) >= company)
        throw tooManyTails(
          `your company has ${company} live views open already; close one and connect again`,
          company,
        );
      if (tails.size >= all)
        throw tooManyTails('too many live views are open at the moment; try again later', all);
    },
    open: (response, { companyId, user }, holds) => {
      const tail: Tail = {
        response,
        companyId,
        sessionId: user.sessionId,
        blocked: false,
        dropped: 0,
      };
      tails.set(response, tail);
      const known = sessions.get(user.sessionId);
      if (known) known.open++;
      else sessions.set(user.sessionId, { holds, open: 1 });
      listen(companyId);
      response.onWritable(() => {
        tail.blocked = false;
        if (tail.dropped > 0) {
          const { dropped } = tail;
          tail.dropped = 0;
          write(tail, `event: dropped\ndata: ${dropped}\n\n`);
        }
        return true;
      });
      // The browser relies on silence only once the NATS server has the subscription.
      bus.nc.flush().then(
        () => tails.has(response) && write(tail, 'retry: 1000\nevent: ready\ndata: {}\n\n'),
        () => tails.has(response) && end(tail, ''),
      );
    },
    gone: (response) => {
      const tail = tails.get(response);
      if (tail) forget(tail);
    },
    close: () => {
      stopBeating();
      ends.unsubscribe();
      for (const tail of [...tails.values()]) end(tail, '');
    },
  };
};

const tooManyTails = (publicMessage: string, limit: number): Problem =>
  new Problem({ code: 'too_many_requests', publicMessage, extra: { limit } });

const ended = 'event: end\ndata: {}\n\n';

interface TailsOptions {
  readonly bus: Bus;
  readonly metrics: Metrics;
  readonly limits: TailLimits;
}
