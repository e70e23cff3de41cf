import type { Cpu } from '../cpu.ts';
import { median, micros, millis, ratio, type Table, whole, withRange } from '../report.ts';
import { loadGenerator, type Round, type Rounds } from './rounds.ts';

const names = ['cluster', 'monolith'] as const;

/** Rounds of two systems that took turns, by their names. */
type Compared = Readonly<Record<string, readonly Round[]>>;

/** Throughput and latency of both under full load, and the ratios of the paired rounds. */
export const loadTable = (rounds: Compared, title: string): Table => {
  const names = Object.keys(rounds);
  const row = (label: string, of: (round: Round) => number, write: (value: number) => string) => [
    label,
    ...names.map((name) => withRange(rounds[name]!.map(of), write)),
    withRange(pairs(rounds, of), ratio),
  ];
  const sum = (of: (round: Round) => number) =>
    names.map((name) => whole(rounds[name]!.reduce((all, one) => all + of(one), 0)));
  return {
    title,
    columns: ['', ...names, names.join(' : ')],
    rows: [
      row('requests/s', ({ load }) => load.requestsPerSecond, whole),
      row('p50', ({ load }) => load.p50Ms, millis),
      row('p99', ({ load }) => load.p99Ms, millis),
      row('CPU µs/request, without the load generator', serverCpu, micros),
      row('cores busy, load generator included', coresBusy, decimal),
      [
        'cores busy with anything else',
        ...names.map((name) =>
          withRange(
            rounds[name]!.map(({ coresElsewhere }) => coresElsewhere),
            decimal,
          ),
        ),
        '',
      ],
      ['requests', ...sum(({ load }) => load.requests), ''],
      ['answers other than 200', ...sum(({ load }) => load.statusErrors), ''],
      ['connection errors, time-outs', ...sum(({ load }) => load.socketErrors), ''],
    ],
  };
};

/** What the cluster does for one request of the monolith's, medians of the rounds. */
export const ratiosOf = (rounds: Rounds) => ({
  requests: ratio(median(pairs(rounds, ({ load }) => load.requestsPerSecond))),
  cpu: ratio(median(pairs(rounds, serverCpu))),
});

/** CPU microseconds per request, medians of the rounds. @param partOf the part of the system that a process belongs to. */
export const cpuTable = (
  rounds: Compared,
  title = 'CPU microseconds per request',
  partOf = (process: string): string => process,
): Table => {
  const names = Object.keys(rounds);
  const parts = new Set(names.flatMap((name) => [...(rounds[name]![0]?.cpu.keys() ?? [])].map(partOf)));
  const per = (name: string, part: string, kind: keyof Cpu) =>
    micros(median(rounds[name]!.map((round) => usPerRequest(round, seconds(round, part, kind)))));
  const seconds = ({ cpu }: Round, part: string, kind: keyof Cpu): number =>
    [...cpu].reduce((sum, [process, used]) => (partOf(process) === part ? sum + used[kind] : sum), 0);
  return {
    title,
    isDetail: true,
    columns: ['part', ...names.flatMap((name) => [name, 'in the kernel'])],
    rows: [...parts].map((part) => [
      part,
      ...names.flatMap((name) => [per(name, part, 'total'), per(name, part, 'kernel')]),
    ]),
  };
};

/** Writes of each process of the cluster that makes at least one in a hundred requests, medians of the rounds. */
export const writesTable = (full: Rounds, single: Rounds): Table => {
  const per = ({ cluster }: Rounds, process: string): number =>
    median(cluster.map(({ writes, load }) => (writes.get(process) ?? 0) / load.requests));
  const processes = [...(full.cluster[0]?.writes.keys() ?? [])];
  return {
    title: 'Writes per request (`write` and `writev`; answers are sent by `send`)',
    isDetail: true,
    columns: ['process', 'under load', 'sequential'],
    rows: processes
      .filter((process) => per(full, process) >= 0.01)
      .map((process) => [process, per(full, process).toFixed(3), per(single, process).toFixed(2)]),
  };
};

/** The counters after each turn under load. */
export const exactnessTable = (rounds: Rounds): Table => ({
  title: 'Counters after each turn',
  isDetail: true,
  columns: ['turn', 'counted', 'must be between', 'and', 'admitted for limited keys', 'must be', 'exact'],
  rows: names.flatMap((name) =>
    rounds[name].flatMap(({ exactness: found }, at) =>
      found
        ? [
            [
              `${name} ${at + 1}`,
              whole(found.counted),
              ...found.expected.map(whole),
              whole(found.admitted),
              whole(found.allowed),
              found.exact ? 'yes' : 'NO',
            ],
          ]
        : [],
    ),
  ),
});

/** One client that sends a request as soon as the previous one is answered. */
export const sequentialTable = (rounds: Rounds): Table => {
  const p50 = (round: Round) => round.load.p50Ms;
  const difference = rounds.cluster.map((round, at) => p50(round) - p50(rounds.monolith[at]!));
  return {
    title: 'One sequential client',
    columns: ['', ...names, 'difference'],
    rows: [
      [
        'p50',
        ...names.map((name) => withRange(rounds[name].map(p50), millis)),
        withRange(difference, millis),
      ],
      [
        'p99',
        ...names.map((name) =>
          withRange(
            rounds[name].map(({ load }) => load.p99Ms),
            millis,
          ),
        ),
        '',
      ],
    ],
  };
};

const pairs = (rounds: Compared, of: (round: Round) => number): number[] => {
  const [first = [], second = []] = Object.values(rounds);
  return first.map((round, at) => of(round) / of(second[at]!));
};

const seconds = ({ cpu }: Round, without?: string): number =>
  [...cpu].reduce((sum, [name, { total }]) => (name === without ? sum : sum + total), 0);

const usPerRequest = ({ load }: Round, cpuSeconds: number): number => (cpuSeconds * 1e6) / load.requests;

const serverCpu = (round: Round): number => usPerRequest(round, seconds(round, loadGenerator));

const coresBusy = (round: Round): number =>
  (seconds(round) * round.load.requestsPerSecond) / round.load.requests;

const decimal = (value: number): string => value.toFixed(2);
