import type { Cpu } from '../../load/cpu.ts';

/** Durations of the calls of one kind of caller. */
export interface Samples {
  readonly caller: string;
  readonly all: readonly Sample[];
}

export interface Sample {
  /** Start, as of `performance.now()`. */
  readonly atMs: number;
  readonly elapsedMs: number;
}

/** A phase in which the cluster was left alone or attacked. */
export interface Span {
  readonly attacked: boolean;
  readonly fromMs: number;
  readonly toMs: number;
  /** CPU time of the processes in it, by name. */
  readonly cpu: ReadonlyMap<string, Cpu>;
}

/** @returns the durations of the calls that began in these spans. */
export const within = (samples: Samples, spans: readonly Span[]): readonly number[] =>
  samples.all
    .filter(({ atMs }) => spans.some(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs))
    .map(({ elapsedMs }) => elapsedMs);
