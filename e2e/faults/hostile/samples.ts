import type { Cpu } from '../../load/cpu.ts';

/** Durations that one kind of caller saw. */
export interface Samples {
  readonly caller: string;
  readonly all: readonly Sample[];
}

export interface Sample {
  /** When it began, as of `performance.now()`. */
  readonly atMs: number;
  readonly elapsedMs: number;
}

/** A time in which the cluster was left alone, or attacked. */
export interface Span {
  readonly attacked: boolean;
  readonly fromMs: number;
  readonly toMs: number;
  /** What processes used in it, by name. */
  readonly cpu: ReadonlyMap<string, Cpu>;
}

/** @returns the durations of what began in these spans. */
export const within = (samples: Samples, spans: readonly Span[]): readonly number[] =>
  samples.all
    .filter(({ atMs }) => spans.some(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs))
    .map(({ elapsedMs }) => elapsedMs);
