import type { World } from '../../api/support/open.ts';
import type { Samples } from './samples.ts';

/** What a stranger or a tenant does to a cluster whose other users must not notice. */
export interface Attack {
  readonly name: string;
  /** What it did before the cluster was hardened against it. */
  readonly before: string;
  /** The process that it aims at, as `gateway-1`, and by how much its memory may grow. */
  readonly target: string;
  readonly growthMiB: number;
  /** Each round is an undisturbed time and a time under attack. */
  readonly rounds: number;
  readonly undisturbedMs: number;
  readonly attackedMs: number;
  prepare(world: World, receiverUrl: string): Promise<Assault>;
}

/** An attack that is ready to begin. */
export interface Assault {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** What was done since the first start, for the report. */
  summary(): string;
  /** How callers fared whom only this attack concerns. */
  samples?(): Promise<readonly Samples[]>;
  close(): Promise<void>;
}
