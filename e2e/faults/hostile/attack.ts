import type { World } from '../../api/support/open.ts';
import type { Cpu } from '../../load/cpu.ts';

/** An attack by a stranger or a tenant. Other users of the cluster must not notice it. */
export interface Attack {
  readonly name: string;
  /** The process under attack, such as `gateway-1`, and the allowed growth of its memory. */
  readonly target: string;
  readonly growthMiB: number;
  /** Each round has an undisturbed phase and a phase under attack. */
  readonly rounds: number;
  readonly undisturbedMs: number;
  readonly attackedMs: number;
  prepare(world: World, receiverUrl: string): Promise<Assault>;
}

/** An attack that is ready to begin. */
export interface Assault {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** A summary of all phases so far, for the report. */
  summary(): string;
  /** Measurements of callers that only this attack concerns. */
  samples?(): Promise<readonly Samples[]>;
  close(): Promise<void>;
}

/** The turns of an attack that can be stopped. */
export const alternating = { rounds: 3, undisturbedMs: 8_000, attackedMs: 8_000 } as const;

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
