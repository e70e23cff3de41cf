import type { Causeway } from '../index.ts';

export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether `out` is a screen, on which a line can be written again. */
  readonly isTerminal?: boolean;
  /** Aborted when the user stops the command. */
  readonly signal: AbortSignal;
}

export type Options = Readonly<Record<string, string | undefined>>;

/** A developer's command. It uses the interface with an API key, as any program. */
export interface DeveloperCommand {
  readonly about: string;
  readonly usage: string;
  /** The placeholders of the values, and what they mean. */
  readonly options: Readonly<Record<string, readonly [value: string, about: string]>>;
  readonly notes: readonly string[];
  /** @returns when it is done or stopped. @throws UsageError, CausewayError */
  readonly run: (
    causeway: Causeway,
    options: Options,
    words: readonly string[],
    terminal: Terminal,
  ) => Promise<void>;
}

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** @throws UsageError */
export const webUrl = (option: string, text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new UsageError(`--${option} takes a URL with http or https, not "${text}"`);
};
