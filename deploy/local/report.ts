import { step } from './toolchain/terminal.mjs';

export interface Report {
  step<Result>(title: string, work: () => Promise<Result>): Promise<Result>;
  line(text: string): void;
}

export const terminalReport: Report = { step, line: (text) => process.stderr.write(`${text}\n`) };

type Message = { readonly type: 'step' | 'stepEnded'; readonly title: string };

/** Sends to the process that waits for the start (`--detach`). */
export const remoteReport: Report = {
  step: async (title, work) => {
    send({ type: 'step', title });
    const result = await work();
    send({ type: 'stepEnded', title });
    return result;
  },
  line: terminalReport.line,
};

const send = (message: Message): void => {
  if (process.connected) process.send?.(message);
};

export const replay = (): ((message: unknown) => void) => {
  const ends = new Map<string, () => void>();
  return (message) => {
    const { type, title = '' } = message as Partial<Message>;
    if (type === 'stepEnded') ends.get(title)?.();
    if (type === 'step') void step(title, () => new Promise<void>((end) => ends.set(title, end)));
  };
};
