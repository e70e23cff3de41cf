import type { MysqldProgram, Program } from '../../deploy/local/toolchain.ts';
import type { OnEnd } from './ends.ts';

/** What every bench works with. */
export interface BenchContext {
  readonly env: NodeJS.ProcessEnv;
  /** Servers of the bench's own: what it measures must not serve anybody else. */
  readonly toolchain: { readonly mysqld: MysqldProgram; readonly natsServer: Program };
  /** Finds or fetches programs that only benches need; the Debian package by program. */
  programs<Name extends string>(
    wanted: Readonly<Record<Name, string>>,
  ): Promise<Readonly<Record<Name, Program>>>;
  /** Registers what has to be ended, however the bench ends; the last first. */
  readonly onEnd: OnEnd;
  /** Tells how it gets on, on stderr. */
  readonly say: (line: string) => void;
  readonly options: BenchOptions;
}

export interface BenchOptions {
  readonly rounds: number;
  readonly seconds: number;
  /** The lookup asked for: `employees` or `client-statuses`. */
  readonly path: string;
  readonly profile: boolean;
  /** Whether the figures go into `RESULTS.md`. */
  readonly write: boolean;
  /** Passed on to `npm start`. */
  readonly startArgs: readonly string[];
}
