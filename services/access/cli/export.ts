import { open, rename } from 'node:fs/promises';
import type { OperatorLane } from '@causeway/proto';
import { type Cluster, openLane } from './cluster.ts';
import type { Body, Command, OperationId } from './commands.ts';

/** The message is for the terminal. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** One page at a time, so that memory does not grow with the company. @returns the number of lines @throws Unreachable, Interrupted */
export const exportLines = async ({
  cluster,
  body,
  exports,
  file,
  write,
}: ExportOptions): Promise<number> => {
  const part = file === undefined ? undefined : `${file}.part`;
  const handle = part === undefined ? undefined : await open(part, 'w', 0o600).catch(unwritable);
  const put = async (text: string): Promise<void> => {
    await (handle ? handle.appendFile(text) : write(text)).catch(unwritable);
  };
  let count = 0;
  try {
    for (const [name, operation] of Object.entries(exports) as [OperatorLane, OperationId][]) {
      const lane = await openLane(cluster, name);
      try {
        for (let after: unknown; after !== null; ) {
          const question = { ...body, ...(after !== undefined && { after }) };
          const answer = await lane.ask(operation, question);
          if (answer.status >= 400) throw new Interrupted(String(answer.body.error));
          const { lines, next } = answer.body as {
            readonly lines: readonly string[];
            readonly next: unknown;
          };
          if (lines.length > 0) await put(`${lines.join('\n')}\n`);
          count += lines.length;
          after = next;
        }
      } finally {
        await lane.close();
      }
    }
    await put(`${JSON.stringify({ type: 'end', lines: count })}\n`);
    await handle?.sync();
  } finally {
    await handle?.close();
  }
  if (file !== undefined && part !== undefined) await rename(part, file).catch(unwritable);
  return count;
};

const unwritable = (error: Error): never => {
  throw new Interrupted(`the export could not be written: ${error.message}`);
};

interface ExportOptions {
  readonly cluster: Cluster;
  readonly body: Body;
  readonly exports: NonNullable<Command['exports']>;
  readonly file: string | undefined;
  readonly write: (text: string) => Promise<void>;
}
