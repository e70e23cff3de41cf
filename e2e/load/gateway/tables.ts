import type { Cpu } from '../cpu.ts';
import { median, micros, millis, type Table, whole, withRange } from '../report.ts';
import { loadGenerator, type Round } from './rounds.ts';

/** A column of figures for each named set of rounds. */
export type Columns = Readonly<Record<string, readonly Round[]>>;

/** Throughput and latency under load. */
export const loadTable = (columns: Columns, title: string): Table => {
  const sets = Object.values(columns);
  const row = (label: string, of: (round: Round) => number, write: (value: number) => string) => [
    label,
    ...sets.map((rounds) => withRange(rounds.map(of), write)),
  ];
  const sum = (label: string, of: (round: Round) => number) => [
    label,
    ...sets.map((rounds) => whole(rounds.reduce((all, round) => all + of(round), 0))),
  ];
  return {
    title,
    columns: ['', ...Object.keys(columns)],
    rows: [
      row('requests/s', ({ load }) => load.requestsPerSecond, whole),
      row('p50', ({ load }) => load.p50Ms, millis),
      row('p99', ({ load }) => load.p99Ms, millis),
      row('CPU µs/request, without the load generator', serverCpu, micros),
      row('cores busy, load generator included', coresBusy, decimal),
      row('cores busy with anything else', ({ coresElsewhere }) => coresElsewhere, decimal),
      sum('requests', ({ load }) => load.requests),
      sum(
        'answers other than 200, errors of connections',
        ({ load }) => load.statusErrors + load.socketErrors,
      ),
    ],
  };
};

/** CPU time per request of each process, medians of the rounds. */
export const cpuTable = (columns: Columns): Table => {
  const sets = Object.values(columns);
  const names = [...new Set(sets.flatMap((rounds) => [...(rounds[0]?.cpu.keys() ?? [])]))];
  const per = (rounds: readonly Round[], name: string, part: keyof Cpu): string =>
    micros(median(rounds.map((round) => usPerRequest(round, round.cpu.get(name)?.[part] ?? 0))));
  return {
    title: 'CPU microseconds per request',
    columns: ['process', ...Object.keys(columns).flatMap((name) => [name, 'in the kernel'])],
    rows: names.map((name) => [
      name,
      ...sets.flatMap((rounds) => [per(rounds, name, 'total'), per(rounds, name, 'kernel')]),
    ]),
    isDetail: true,
  };
};

const usPerRequest = ({ load }: Round, cpuSeconds: number): number => (cpuSeconds * 1e6) / load.requests;

const seconds = ({ cpu }: Round, without?: string): number =>
  [...cpu].reduce((sum, [name, { total }]) => (name === without ? sum : sum + total), 0);

const serverCpu = (round: Round): number => usPerRequest(round, seconds(round, loadGenerator));

const coresBusy = (round: Round): number =>
  (seconds(round) * round.load.requestsPerSecond) / round.load.requests;

const decimal = (value: number): string => value.toFixed(2);
