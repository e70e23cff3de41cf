import type { LogWriter } from '../log-writer.ts';
import { createQuorum } from '../quorum.ts';
import { type BrokenRules, emptyStore, isMember, type Store, simulatedLog } from './simulated-log.ts';

/** 0 is the choice without a fault. */
export type Choose = (count: number) => number;

export interface Plan {
  readonly logs: number;
  readonly choose: Choose;
  readonly broken?: readonly BrokenRules[];
  readonly losesStores?: boolean;
  readonly large?: boolean;
}

const gatewayCount = 3;
const maxSteps = 200;

/**
 * Runs the limiter's protocol once over simulated logs. `choose` may deliver messages in any order, lose
 * them, lose them after they were executed, or execute them long after the sender gave up. Connections stall,
 * gateways take over or die, logs lose stores, entries or names, at any step.
 * @returns what went wrong, or undefined.
 */
export const explore = ({
  logs: logCount,
  choose,
  broken = [],
  losesStores = true,
  large = false,
}: Plan): string | undefined => {
  const stores: Store[] = Array.from({ length: logCount }, emptyStore);
  let queue: Item[] = [];
  let timers: Item[] = [];
  let names = 0;
  let problem: string | undefined;
  const answered = new Map<number, string>();
  let highest = 0;
  /** A log has lost its end, and has not got it again. */
  let damaged = false;
  /** Raised by the loss of all stores, after which counting starts again. */
  let life = 0;

  const makeGateway = (at: number): Gateway => {
    const gateway: Gateway = {
      at,
      alive: true,
      claiming: false,
      count: 0,
      writer: undefined,
      claim: () => {},
    };
    const quorum = createQuorum({
      logs: stores.map((_, log) =>
        simulatedLog(
          log,
          () => stores[log]!,
          ({ run, answer }) =>
            void queue.push({ at, link: `${at} ${log}`, run, answer: (result) => answer(result as never) }),
          broken[log],
        ),
      ),
      newStore: () => `store${++names}`,
      after: (_, then) => void timers.push({ at, run: () => {}, answer: then }),
    });
    gateway.claim = () => {
      if (gateway.claiming || gateway.writer) return;
      gateway.claiming = true;
      let merged = 0;
      quorum.claim(
        {
          epoch: `epoch${++names}`,
          merge: (entries) => {
            for (const { totals } of entries)
              for (const [, slot, total = 0] of totals) if (slot === 4) merged = Math.max(merged, total);
          },
          encodeState: () => [
            ...(large ? ['[1,8,1]'] : []),
            `[1,4,${gateway.claiming ? merged : gateway.count}]`,
          ],
          snapshotEvery: () => 3,
          onLost: () => {
            gateway.writer = undefined;
          },
        },
        (result) => {
          gateway.claiming = false;
          if (result === 'fenced' || result === undefined) return;
          gateway.count = merged;
          gateway.writer = result;
        },
      );
    };
    return gateway;
  };
  const gateways = Array.from({ length: gatewayCount }, (_, at) => makeGateway(at));

  const count = (gateway: Gateway): void => {
    const position = ++gateway.count;
    const countedIn = life;
    gateway.writer!.append(`[1,4,${position}]`, () => {
      if (!gateway.alive || countedIn !== life) return;
      const by = `gateway ${gateway.at}`;
      if (answered.has(position))
        problem ??= `position ${position} was answered by ${answered.get(position)} and by ${by}`;
      answered.set(position, by);
      highest = Math.max(highest, position);
    });
  };

  const script = [0, 0, 1, 0, 1, 2, 1, 2, 0, 1];
  let step = 0;
  /** If nothing is under way, the next gateway counts, or claims if it cannot. */
  const goOn = (): boolean => {
    const at = script.shift();
    if (at === undefined) return false;
    const gateway = gateways[at]!;
    if (!gateway.alive) return true;
    if (gateway.writer) count(gateway);
    else gateway.claim();
    if (gateway.claiming) script.unshift(at);
    return true;
  };
  const take = (from: Item[], at: number): Item => from.splice(at, 1)[0]!;
  const stalled = new Set<string>();
  const waits = ({ link, isAnswer }: Item): boolean => !isAnswer && link !== undefined && stalled.has(link);
  const isAlive = ({ at }: Item): boolean => gateways[at]?.alive ?? true;
  const deliver = (item: Item): void => {
    const result = item.run();
    queue.push({ at: item.at, run: () => result, answer: item.answer, isAnswer: true });
  };
  const process = (item: Item): void => {
    if (!item.isAnswer) deliver(item);
    else if (isAlive(item)) item.answer(item.run());
  };

  while (step++ < maxSteps && !problem) {
    const options: (() => void)[] = [];
    const next = queue.findIndex((item) => !waits(item));
    const impatient = queue.findIndex((item) => waits(item) && !item.givenUp);
    if (next >= 0) options.push(() => process(take(queue, next)));
    else if (impatient >= 0)
      options.push(() => {
        const item = queue[impatient]!;
        queue[impatient] = { ...item, answer: () => {}, givenUp: true };
        queue.push({ ...item, run: () => undefined, isAnswer: true });
      });
    else if (timers.length > 0 && timers.some(isAlive) && step % 2 === 0)
      options.push(() => {
        const timer = take(timers, 0);
        if (isAlive(timer)) timer.answer(undefined);
      });
    else
      options.push(() => {
        if (!goOn()) step = maxSteps;
      });
    for (let at = 0; at < Math.min(queue.length, 4); at++) {
      const item = queue[at]!;
      if (at > 0) options.push(() => process(take(queue, at)));
      if (item.isAnswer) continue;
      // Lost; executed without an answer; given up by its sender and executed later.
      options.push(() => void queue.push({ ...take(queue, at), run: () => undefined, isAnswer: true }));
      options.push(() => {
        take(queue, at).run();
        queue.push({ ...item, run: () => undefined, isAnswer: true });
      });
      options.push(() => {
        take(queue, at);
        queue.push({ ...item, run: () => undefined, isAnswer: true });
        queue.push({ ...item, answer: () => {} });
      });
    }
    for (const gateway of gateways) {
      if (!gateway.alive) continue;
      for (const log of stores.keys()) {
        const link = `${gateway.at} ${log}`;
        options.push(() => void (stalled.delete(link) || stalled.add(link)));
      }
      if (gateway.writer) options.push(() => count(gateway));
      else if (!gateway.claiming) options.push(() => gateway.claim());
    }
    if (timers.length > 0)
      options.push(() => {
        const timer = take(timers, 0);
        if (isAlive(timer)) timer.answer(undefined);
      });
    if (isSame(stores)) damaged = false;
    if (losesStores && !damaged && stores.every(isMember))
      for (const log of stores.keys())
        options.push(() => {
          stores[log] = emptyStore();
        });
    if (losesStores && isSame(stores))
      for (const [log, { entries }] of stores.entries())
        if (entries.length > 1)
          options.push(() => {
            damaged = true;
            const kept = entries.slice(0, -1);
            stores[log] = { ...emptyStore(), entries: kept, sequence: kept.at(-1)!.sequence };
          });
    options.push(() => {
      for (const store of stores) store.nameless = !store.nameless;
    });
    if (losesStores)
      options.push(() => {
        for (const log of stores.keys()) stores[log] = emptyStore();
        life++;
        highest = 0;
        answered.clear();
      });
    if (gateways.filter(({ alive }) => alive).length > 1)
      for (const gateway of gateways)
        if (gateway.alive)
          options.push(() => {
            gateway.alive = false;
          });
    options[choose(options.length)]!();
  }
  if (problem) return problem;

  // The next owner knows every count that was answered.
  for (const gateway of gateways) gateway.alive = false;
  stalled.clear();
  for (const store of stores) store.nameless = false;
  queue = queue.filter((item) => !item.isAnswer);
  timers = [];
  const last = makeGateway(gatewayCount);
  gateways.push(last);
  for (let tries = 0; tries < 5 && !last.writer; tries++) {
    last.claim();
    while (queue.length > 0) process(take(queue, 0));
  }
  if (!last.writer) return 'nobody can take over any more';
  if (last.count < highest)
    return `${highest} requests were answered, and the next owner knows of ${last.count}`;
  return undefined;
};

const isSame = (stores: readonly Store[]): boolean => {
  const lasts = stores.map(({ entries }) => entries.at(-1)?.entry);
  return lasts.every(
    (last) => last && last.number > 0 && last.number === lasts[0]!.number && last.epoch === lasts[0]!.epoch,
  );
};

interface Item {
  readonly at: number;
  readonly run: () => unknown;
  readonly answer: (result: unknown) => void;
  readonly isAnswer?: boolean;
  readonly link?: string;
  readonly givenUp?: boolean;
}

interface Gateway {
  readonly at: number;
  alive: boolean;
  claiming: boolean;
  count: number;
  writer: LogWriter | undefined;
  claim(): void;
}
