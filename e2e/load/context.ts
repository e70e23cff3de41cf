import type { MysqldProgram, Program } from '../../deploy/local/toolchain.ts';
import type { OnEnd } from './ends.ts';

/** The tools and options of every bench. */
export interface BenchContext {
  readonly env: NodeJS.ProcessEnv;
  /** Servers that only the bench uses, so that nothing else affects the measurement. */
  readonly toolchain: { readonly mysqld: MysqldProgram; readonly natsServer: Program };
  /** Finds or downloads programs that only benches need; the Debian package by program. */
  programs<Name extends string>(
    wanted: Readonly<Record<Name, string>>,
  ): Promise<Readonly<Record<Name, Program>>>;
  /** Registers cleanup that runs however the bench ends, in reverse order. */
  readonly onEnd: OnEnd;
  /** Reports progress on stderr. */
  readonly say: (line: string) => void;
  readonly options: BenchOptions;
}

export interface BenchOptions {
  readonly rounds: number;
  readonly seconds: number;
  /** The lookup to request: `employees` or `client-statuses`. */
  readonly path: string;
  readonly profile: boolean;
  /** Whether to write the figures to `RESULTS.md`. */
  readonly write: boolean;
  /** Another checkout, to measure in alternate turns. */
  readonly beside: string | undefined;
  /** Whether to leave out the turns beside other load. */
  readonly quiet: boolean;
  /** Passed on to `npm start`. */
  readonly startArgs: readonly string[];
}
