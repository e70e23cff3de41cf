import { ensureLimitStreams } from '@causeway/identity';
import { limitLogNumbers } from '@causeway/proto';
import { connectBus } from '@causeway/runtime';
import { startNats } from '../../deploy/local/servers.ts';
import { type Counter, createCounter } from '../../services/gateway/limits/counter.ts';
import { companySlot, keySlot } from '../../services/gateway/limits/counts.ts';
import { windowOf } from '../../services/gateway/limits/limiter.ts';
import { readCpu } from './cpu.ts';
import { type BenchContext, makeHome } from './driver.ts';
import {
  describeMachine,
  micros,
  millis,
  percentile,
  publish,
  type Table,
  whole,
  withRange,
} from './report.ts';

const keys = 5000;
/** Keys of one company share a ceiling, which is counted with every request. */
const keysPerCompany = 10;
const callers = 64;
const sequentialTakes = 2000;
/** High enough not to affect the measurement. */
const timeoutMs = 5000;

/** Counts a read of a key. @returns its position in the window. */
type Count = (window: number, key: number) => Promise<number>;

/** Measures the gateway's counter with its log on one server. */
export const benchLimiter = async ({ toolchain, onEnd, say, options }: BenchContext): Promise<void> => {
  const home = makeHome(onEnd);
  const nats = await startNats({ home, program: toolchain.natsServer });
  onEnd(() => nats.stop());
  const bus = await connectBus({ url: nats.url, name: 'gateway' });
  onEnd(() => bus.close());
  await ensureLimitStreams(bus.nc, []);
  const ownLog = createCounter({ bus, logs: limitLogNumbers(1), timeoutMs });
  await ownLog.warm();
  const count = checked(readCounter(ownLog));
  const turns: Turn[] = [];
  for (let round = 0; round <= options.rounds; round++) {
    const turn = await runTurn(count, nats.pid, options.seconds);
    if (round > 0) turns.push(turn);
    say(`${round === 0 ? 'warm-up' : `round ${round}`}  ${whole(turn.takesPerSecond)} takes/s`);
  }
  await ownLog.drain();

  const tables = [await describeMachine({ 'nats-server': toolchain.natsServer }), turnTable(turns)];
  publish('limiter', options, howMeasured(options), tables);
};

const readCounter =
  ({ count }: Counter): Count =>
  async (window, key) => {
    const companyId = Math.floor(key / keysPerCompany) + 1;
    const slots = { slot: keySlot(key, 'read'), companySlot: companySlot(companyId, 'read') };
    return (await count({ window, ...slots, limit: unlimited })).own;
  };
const unlimited = 1_000_000_000;

/** A counter, and a check that its positions add up to the requests counted. */
interface Checked {
  take(window: number, key: number): Promise<void>;
  /** @throws unless the highest position of every key in the window is the number of its requests. */
  requireExact(window: number): void;
}

const checked = (count: Count): Checked => {
  const windows = new Map<number, { takes: number; highest: Map<number, number> }>();
  return {
    take: async (window, key) => {
      let seen = windows.get(window);
      if (!seen) {
        seen = { takes: 0, highest: new Map() };
        windows.set(window, seen);
      }
      seen.takes++;
      const position = await count(window, key);
      if (position > (seen.highest.get(key) ?? 0)) seen.highest.set(key, position);
    },
    requireExact: (window) => {
      const { takes = 0, highest = new Map<number, number>() } = windows.get(window) ?? {};
      const counted = [...highest.values()].reduce((sum, position) => sum + position, 0);
      if (counted !== takes) throw new Error(`${takes} taken and ${counted} counted`);
    },
  };
};

interface Turn {
  readonly takesPerSecond: number;
  readonly clientUs: number;
  readonly natsUs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly sequentialP50Ms: number;
}

const runTurn = async (count: Checked, natsPid: number, seconds: number): Promise<Turn> => {
  // The current minute, as in the gateway: older ones are forgotten.
  const window = windowOf(Date.now());
  const elapsedMs: number[] = [];
  const natsSeconds = () => readCpu(new Map([['nats', natsPid]])).get('nats')?.total ?? 0;
  const startedMs = performance.now();
  const clientBefore = process.cpuUsage();
  const natsBefore = natsSeconds();
  const endMs = startedMs + seconds * 1000;
  let next = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const key = (next++ % keys) + 1;
      const beganMs = performance.now();
      await count.take(window, key);
      elapsedMs.push(performance.now() - beganMs);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const tookMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(clientBefore);
  const natsUs = (natsSeconds() - natsBefore) * 1e6;
  const takes = elapsedMs.length;

  const sequentialMs: number[] = [];
  for (let at = 0; at < sequentialTakes; at++) {
    const beganMs = performance.now();
    await count.take(window, (at % keys) + 1);
    sequentialMs.push(performance.now() - beganMs);
  }
  count.requireExact(window);
  return {
    takesPerSecond: takes / (tookMs / 1000),
    clientUs: (user + system) / takes,
    natsUs: natsUs / takes,
    p50Ms: percentile(elapsedMs, 0.5),
    p99Ms: percentile(elapsedMs, 0.99),
    sequentialP50Ms: percentile(sequentialMs, 0.5),
  };
};

const turnTable = (turns: readonly Turn[]): Table => {
  const row = (label: string, of: (turn: Turn) => number, write: (value: number) => string) => [
    label,
    withRange(turns.map(of), write),
  ];
  return {
    title: `Counting, ${callers} callers over ${keys} keys`,
    columns: ['', 'log'],
    rows: [
      row('takes/s', (turn) => turn.takesPerSecond, whole),
      row('p50', (turn) => turn.p50Ms, millis),
      row('p99', (turn) => turn.p99Ms, millis),
      row('CPU µs/take of the client', (turn) => turn.clientUs, micros),
      row('CPU µs/take of nats-server', (turn) => turn.natsUs, micros),
      row('p50 of one sequential caller', (turn) => turn.sequentialP50Ms, millis),
    ],
  };
};

const howMeasured = ({ rounds, seconds }: BenchContext['options']): string => `
How the gateway counts (\`services/gateway/limits\`): in memory, answering when the increments of a tick are in the log, as one
message. One process with ${callers} sequential callers, one nats-server, file storage; ${rounds} turns of ${seconds} s after a
warm-up. Every turn checks that the counters are exact. The figures are medians, with minimum and maximum in parentheses.
`;
