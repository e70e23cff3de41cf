import { type Bus, isNotice, type Log } from '@causeway/runtime';

/** Reports of several gateways arrive close together; they become one batch. */
const gatherMs = 1000;
/** More rows in one statement hold their locks longer without saving much. */
const maxRowsPerWrite = 500;

export interface ReportWriter {
  /** Takes no more reports and writes those it has. */
  drain(): Promise<void>;
}

/**
 * Takes the reports that gateways publish, as one replica of a queue group, and writes them in batches.
 * What could not be written is gathered again, so it is written later; what was written is not.
 */
export const gatherReports = <Row>({ bus, log, ...of }: ReportOptions<Row>): ReportWriter => {
  let gathered = new Map<string, Row>();
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();

  const take = (rows: readonly Row[]): void => {
    for (const row of rows) of.add(gathered, row);
    if (gathered.size > 0) timer ??= setTimeout(() => void flush(), gatherMs);
  };

  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const rows = [...gathered.values()];
    gathered = new Map();
    writing = writing.then(async () => {
      let at = 0;
      try {
        for (; at < rows.length; at += maxRowsPerWrite) await of.write(rows.slice(at, at + maxRowsPerWrite));
      } catch (error) {
        log.warn({ error, rows: rows.length - at }, `${of.what} could not be written; trying again`);
        take(rows.slice(at));
      }
    });
    return writing;
  };

  const subscription = bus.nc.subscribe(of.subject, {
    queue: 'access',
    callback: (error, message) => {
      if (error || !isNotice(message)) return;
      try {
        take(of.read(message.data));
      } catch (cause) {
        log.error({ error: cause }, `report of ${of.what} cannot be read`);
      }
    },
  });

  return {
    drain: async () => {
      subscription.unsubscribe();
      await flush();
      clearTimeout(timer);
    },
  };
};

export interface ReportOptions<Row> {
  readonly bus: Bus;
  readonly log: Log;
  readonly subject: string;
  /** What the rows are called in the log. */
  readonly what: string;
  /** @throws on anything that is not a report: one wrong value would spoil the statement for all. */
  readonly read: (data: Uint8Array) => readonly Row[];
  /** Puts a row to what is gathered, together with the row it belongs to if that is there. */
  readonly add: (gathered: Map<string, Row>, row: Row) => void;
  readonly write: (rows: readonly Row[]) => Promise<void>;
}
