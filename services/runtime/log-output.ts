import { write, writeSync } from 'node:fs';

export interface LogOutput {
  write(line: string): void;
  /** Writes what waits, in the foreground; called before the process ends. Gives up at the first error. */
  flush(): void;
}

/**
 * Writes lines to a file descriptor in chunks of 32 KiB or twice a second. A write call per request would cost more than
 * the request's own work.
 *
 * While the descriptor refuses writes (a full disk), up to a mebibyte of lines waits and further ones are lost. pino's
 * own destination would end the process at the first error, and retry forever when the process stops.
 * @param onLost called for each lost line.
 */
export const createLogOutput = (fd: number, onLost: () => void): LogOutput => {
  let lines = '';
  /** What is being written, or waits to be written again. */
  let chunk = Buffer.alloc(0);
  let writing = false;
  let timer: NodeJS.Timeout | undefined;

  const send = () => {
    if (writing) return;
    if (chunk.length === 0) {
      if (lines === '') return;
      chunk = Buffer.from(lines);
      lines = '';
    }
    writing = true;
    write(fd, chunk, (error, written) => {
      writing = false;
      if (!error) chunk = chunk.subarray(written);
      if (error || (chunk.length === 0 && lines.length < chunkLength)) later();
      else send();
    });
  };
  const later = () => {
    if (timer) return;
    timer = setTimeout(() => {
      timer = undefined;
      send();
    }, everyMs).unref();
  };

  return {
    write: (line) => {
      if (lines.length + line.length > waitingLength) return onLost();
      lines += line;
      if (lines.length >= chunkLength && chunk.length === 0) send();
      else later();
    },
    flush: () => {
      // The kernel has a chunk that is being written.
      let rest = Buffer.concat([writing ? Buffer.alloc(0) : chunk, Buffer.from(lines)]);
      lines = '';
      try {
        while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest));
      } catch {
        // There is nowhere to report this.
      }
    },
  };
};

const everyMs = 500;
const chunkLength = 32_768;
const waitingLength = 1_048_576;
