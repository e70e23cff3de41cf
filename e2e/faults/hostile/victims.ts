import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { outcome } from '../../api/support/clock.ts';
import { type Reply, send, type World } from '../../api/support/open.ts';
import { openTeam } from '../../api/support/portal.ts';
import type { Sample, Samples } from './attack.ts';

/**
 * Healthy callers, in addition to the traffic of every fault. Two cores must have room for an attack: on a machine that
 * is busy already, any work at all doubles a 99th percentile.
 */
export interface Victims {
  /** Starts their calls. */
  start(): { stop(): Promise<Calls> };
}

export interface Calls {
  readonly samples: readonly Samples[];
  readonly complaints: readonly string[];
}

interface Call extends Sample {
  /** undefined if it succeeded. */
  readonly failure: string | undefined;
}

interface Caller {
  readonly name: string;
  readonly perSecond: number;
  /** Starts a call only after the previous one has ended. */
  readonly oneAtATime?: true;
  call(at: number): Promise<Call>;
}

const memberCount = 4;

export const openVictims = async (world: World): Promise<Victims> => {
  // Separate connections, so that one caller never waits for another.
  const [lookups, pages] = [
    new Pool(world.baseUrl, { pipelining: 1 }),
    new Pool(world.baseUrl, { pipelining: 1 }),
  ];
  const company = await world.company({ read: 1_000_000_000 });
  const { value: key } = await company.key();
  const cookies: string[] = [];
  for (let at = 0; at < memberCount; at++)
    cookies.push(`causeway=${(await openTeam(world)).owner.browser.cookie()}`);
  const callers: readonly Caller[] = [
    {
      name: 'API key, GET lookups/employees',
      perSecond: 20,
      call: () => timed(() => send(lookups, '/integrations/lookups/employees', { key })),
    },
    {
      name: 'member, GET session',
      perSecond: 15,
      call: (at) =>
        timed(() =>
          send(pages, '//portal/api/v1/session', { headers: { cookie: cookies[at % memberCount]! } }),
        ),
    },
    {
      name: 'operator, key revoke',
      perSecond: 5,
      oneAtATime: true,
      call: async () => {
        const made = await timed(() => company.key(['integrations:read']));
        if (!('id' in made.result)) return made;
        const { id } = made.result;
        return timed(() => world.operator.ask('revokeKey', { id }));
      },
    },
  ];
  return {
    start: () => {
      const ending = new AbortController();
      const running = callers.map((caller) => keepCalling(caller, ending.signal));
      return {
        stop: async () => {
          ending.abort();
          const all = await Promise.all(running);
          return {
            samples: all.map((calls, at) => ({ caller: callers[at]!.name, all: calls })),
            complaints: all.flatMap((calls, at) => complaintsOf(callers[at]!.name, calls)),
          };
        },
      };
    },
  };
};

/** Starts `perSecond` calls per second, regardless of earlier calls. */
const keepCalling = async (
  { perSecond, oneAtATime, call }: Caller,
  signal: AbortSignal,
): Promise<readonly Call[]> => {
  const calls: Promise<Call>[] = [];
  const startedMs = performance.now();
  for (let at = 0; !signal.aborted; at++) {
    const waitMs = startedMs + (at * 1000) / perSecond - performance.now();
    if (waitMs > 1) await sleep(waitMs);
    calls.push(call(at));
    if (oneAtATime) await calls.at(-1);
  }
  return Promise.all(calls);
};

const timed = async <Result extends object>(
  work: () => Promise<Result>,
): Promise<Call & { readonly result: Result | Error }> => {
  const atMs = performance.now();
  const result = await outcome(work());
  const elapsedMs = performance.now() - atMs;
  return { atMs, elapsedMs, failure: failureOf(result), result };
};

const failureOf = (result: object): string | undefined => {
  if (result instanceof Error) return result.message;
  return 'status' in result && result.status !== 200
    ? `${result.status} ${(result as Reply).text}`
    : undefined;
};

const complaintsOf = (caller: string, calls: readonly Call[]): readonly string[] => {
  const failed = calls.flatMap(({ failure }) => failure ?? []);
  return failed.length > 0 ? [`${failed.length} calls failed (${caller}), such as ${failed[0]}`] : [];
};
