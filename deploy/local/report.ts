import { step } from './toolchain/terminal.mjs';

export interface Report {
  step<Result>(title: string, work: () => Promise<Result>): Promise<Result>;
  line(text: string): void;
}

export const terminalReport: Report = { step, line: (text) => process.stderr.write(`${text}\n`) };

type Message = { readonly type: 'step'; readonly title: string } | { readonly type: 'stepEnded' };

/** Sends to the process that waits for the start (`--detach`). */
export const remoteReport: Report = {
  step: async (title, work) => {
    send({ type: 'step', title });
    const result = await work();
    send({ type: 'stepEnded' });
    return result;
  },
  line: terminalReport.line,
};

const send = (message: Message): void => {
  if (process.connected) process.send?.(message);
};

export const replay = (): ((message: unknown) => void) => {
  let end = () => {};
  let shown: Promise<unknown> = Promise.resolve();
  return (message) => {
    const { type, title } = message as { type?: string; title?: string };
    if (type === 'stepEnded') end();
    if (type !== 'step' || title === undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    end = resolve;
    shown = shown.then(() => step(title, () => promise));
  };
};
