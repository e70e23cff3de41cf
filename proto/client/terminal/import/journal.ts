import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { CausewayError } from '../../index.ts';

/** What an import is of. Another file, company or mode is another import. */
export interface Subject {
  readonly sha256: string;
  readonly company: number;
  readonly into: string;
  readonly mode: string;
}

/** After an answered batch: where the next one begins. */
export interface Progress {
  readonly batches: number;
  readonly rows: number;
  readonly written: number;
  readonly refused: number;
  /** Of the file of refused rows, which may hold more after a kill. */
  readonly refusedBytes: number;
  readonly utc: string;
  readonly isDone?: true;
}

export interface Journal {
  /** The `Idempotency-Key` of a batch: the same in every run. */
  readonly keyOf: (batch: number) => string;
  readonly progress: Progress;
  readonly isResumed: boolean;
  readonly note: (progress: Progress) => void;
  readonly close: () => void;
}

/**
 * Opens `<file>.import`: a line that says what is imported, then one for each answered batch. A batch that was sent and is not
 * noted is sent again with its key, so that it is carried out once.
 * @throws CausewayError if it belongs to another import, or another process imports the file
 */
export const openJournal = (path: string, refusedPath: string, subject: Subject): Journal => {
  const file = `${path}.import`;
  const unlock = lock(`${file}.lock`);
  try {
    const found = existsSync(file) ? readJournal(file) : undefined;
    const isOver = found?.progress.isDone && !isSame(found.subject, subject);
    const kept = isOver ? undefined : found;
    if (kept && !isSame(kept.subject, subject))
      throw new CausewayError(
        `${path}, the company or the mode has changed since this import began, with ${kept.progress.rows} rows done: undo the change to finish it, or delete ${file} to begin again`,
      );
    if (kept?.progress.isDone)
      throw new CausewayError(
        `${path} was imported at ${kept.progress.utc}: delete ${file} to import it again`,
      );
    if (!kept && existsSync(refusedPath))
      throw new CausewayError(`${refusedPath} is of an earlier import: import, move or delete it first`);
    const id = kept?.id ?? randomUUID();
    if (!kept) writeFirst(file, { id, subject });
    if (kept && existsSync(refusedPath)) truncateSync(refusedPath, kept.progress.refusedBytes);
    return {
      keyOf: (batch) => `import-${id}-${batch}`,
      progress: kept?.progress ?? nothing,
      isResumed: kept !== undefined,
      note: (progress) => appendFileSync(file, `${JSON.stringify(progress)}\n`),
      close: unlock,
    };
  } catch (error) {
    unlock();
    throw error;
  }
};

const nothing: Progress = { batches: 0, rows: 0, written: 0, refused: 0, refusedBytes: 0, utc: '' };

const isSame = (a: Subject, b: Subject): boolean =>
  a.sha256 === b.sha256 && a.company === b.company && a.into === b.into && a.mode === b.mode;

/** The keys must outlive a power cut, and the first batch is sent after this. */
const writeFirst = (file: string, first: object): void => {
  const descriptor = openSync(file, 'w', 0o600);
  writeFileSync(descriptor, `${JSON.stringify(first)}\n`);
  fsyncSync(descriptor);
  closeSync(descriptor);
};

const readJournal = (file: string) => {
  const text = readFileSync(file, 'utf8');
  // A kill may have cut the last line.
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole.length < text.length) truncateSync(file, Buffer.byteLength(whole));
  const [first, ...lines] = whole.split('\n').slice(0, -1);
  if (first === undefined) return undefined;
  const { id, subject } = JSON.parse(first) as { readonly id: string; readonly subject: Subject };
  const last = lines.at(-1);
  const progress: Progress =
    last === undefined ? { ...nothing, utc: statSync(file).mtime.toISOString() } : JSON.parse(last);
  return { id, subject, progress };
};

/** @returns what releases it. A lock of a process that is gone is taken over. */
const lock = (file: string): (() => void) => {
  const mine = `${file}.${process.pid}`;
  try {
    writeFileSync(mine, String(process.pid));
    if (existsSync(file) && !isRunning(Number(readFileSync(file, 'utf8')))) unlinkSync(file);
    linkSync(mine, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new CausewayError(
      `another import of the file is under way: wait for it, or delete ${file} if there is none`,
    );
  } finally {
    rmSync(mine, { force: true });
  }
  return () => unlinkSync(file);
};

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};
