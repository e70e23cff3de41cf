import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import type { Causeway } from '../index.ts';
import { CausewayError } from '../index.ts';
import { type DeveloperCommand, type Terminal, UsageError } from './command.ts';
import { type Columns, checkRow, type Mode, matchColumns, type Rules, reasonColumn } from './import/check.ts';
import { type Journal, openJournal } from './import/journal.ts';
import { isNdjson, type Row, readRows } from './import/rows.ts';
import { type ItemResult, reasonIn, sendBatch } from './import/send.ts';
import { importRules } from './rules.generated.ts';

export const importFile: DeveloperCommand = {
  about: 'Import the rows of a .csv or .ndjson file, in batches',
  usage: 'FILE [--into KIND] [--mode MODE] [--ignore COLUMN,COLUMN] [--only check]',
  options: {
    into: ['KIND', 'leads (the default), clients, affiliates or notes'],
    mode: ['MODE', 'upsert (the default), create or update'],
    ignore: ['COLUMNS', 'columns that are not imported, separated by commas'],
    only: ['check', 'show the columns and check the rows, and write nothing'],
  },
  notes: [
    'Needs a key with the scope integrations:write. Stopped in any way, the same command goes on where it was:',
    'FILE.import notes what was answered. Refused rows are in FILE.refused.csv with the reason, to correct and import.',
  ],
  run: async (causeway, options, [path, ...others], terminal) => {
    if (path === undefined || others.length > 0) throw new UsageError('one file is required');
    const { into, mode } = kindOf(options.into, options.mode);
    if (options.only !== undefined && options.only !== 'check') throw new UsageError('--only takes check');
    const ignored = new Set(options.ignore?.split(',').map((name) => name.trim()));
    const plan = { causeway, path, into, mode, ignored, rules: importRules[into]!, terminal };
    try {
      const survey = await surveyFile(plan);
      if (options.only === undefined && survey.rows > 0) await writeFile(plan, survey);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Of the file, or of a full disk.
      throw code?.startsWith('E') ? new CausewayError((error as Error).message, undefined, error) : error;
    }
  },
};

const ids = { leads: 'client_id', clients: 'client_id', affiliates: 'employee_id', notes: '' } as const;
type Kind = keyof typeof ids;

interface Plan {
  readonly causeway: Causeway;
  readonly path: string;
  readonly into: Kind;
  readonly mode: Mode;
  readonly ignored: ReadonlySet<string>;
  readonly rules: Rules;
  readonly terminal: Terminal;
}

const kindOf = (into = 'leads', mode = into === 'notes' ? 'create' : 'upsert') => {
  if (!Object.hasOwn(ids, into)) throw new UsageError('--into takes leads, clients, affiliates or notes');
  if (!['create', 'update', 'upsert'].includes(mode))
    throw new UsageError('--mode takes upsert, create or update');
  if (into === 'notes' && mode !== 'create') throw new UsageError('notes can only be created');
  return { into: into as Kind, mode: mode as Mode };
};

interface Survey {
  readonly columns: Columns;
  readonly names: readonly string[];
  readonly rows: number;
  readonly sha256: string;
}

/** Reads the whole file before anything is written: its columns, how many rows, and which break a rule. */
const surveyFile = async (plan: Plan): Promise<Survey> => {
  const { path, rules, ignored, terminal } = plan;
  const { out } = terminal;
  const hash = createHash('sha256');
  let names: string[] = [];
  let columns = matchColumns([], rules, ignored);
  const onColumns = (found: readonly string[]): void => {
    const more = isNdjson(path) ? found.filter((name) => !names.includes(name)) : found;
    if (more.length === 0) return;
    names = [...names, ...more];
    columns = matchColumns(names, rules, ignored);
    if (columns.faults.length > 0) throw new UsageError(columns.faults.join('\n'));
  };
  let rows = 0;
  let broken = 0;
  for await (const row of readRows(path, { hash, onColumns })) {
    terminal.signal.throwIfAborted();
    rows++;
    const { problems } = checkRow(row, columns, rules, plan.mode, ids[plan.into]);
    if (problems.length === 0) continue;
    if (++broken <= 3) out(`row ${row.number}: ${problems.join('; ')}\n`);
  }
  for (const name of names) out(`${name} → ${columns.fields.get(name) ?? 'not imported'}\n`);
  const all = `${count(rows)} rows for ${plan.into}`;
  out(broken === 0 ? `${all}\n` : `${all}, of which ${count(broken)} break a rule\n`);
  return { columns, names, rows, sha256: hash.digest('hex') };
};

const writeFile = async (plan: Plan, survey: Survey): Promise<void> => {
  const { causeway, path, into, mode, terminal } = plan;
  const { signal, out } = terminal;
  const { company } = await causeway.me.get({ signal });
  const refusedPath = path.replace(/(?:\.[^./]*)?$/, (end) => `.refused${end}`);
  const subject = { sha256: survey.sha256, company: company.id, into, mode };
  const journal = openJournal(path, refusedPath, subject);
  const bar = progressBar(terminal, survey.rows, journal.progress.rows);
  /** Batches under way, in the order of the file, in which they are noted. */
  const waiting: { readonly batch: Batch; readonly answer: Promise<readonly ItemResult[]> }[] = [];
  try {
    assertKeyIsKept(journal, survey);
    if (journal.isResumed) out(`Going on after ${count(journal.progress.rows)} rows\n`);
    const hash = createHash('sha256');
    let { progress } = journal;
    const send = ({ items }: Batch, idempotencyKey: string): Promise<readonly ItemResult[]> => {
      const options = { signal, idempotencyKey, maxRetries: 0 };
      const sent = () => causeway[into].batch({ mode: mode as 'create', items }, options);
      const onWait = (why: string): void => bar(progress.rows, progress.refused, why);
      return items.length === 0 ? Promise.resolve([]) : sendBatch(sent, signal, onWait);
    };
    const noteFirst = async (): Promise<void> => {
      const { batch, answer } = waiting[0]!;
      const { checked } = batch;
      const refused = refusedOf(checked, await answer);
      waiting.shift();
      const text = refused.map(([row, reason]) => refusedText(path, survey.names, row, reason)).join('');
      if (text !== '') {
        const isFirst = progress.refusedBytes === 0 && !isNdjson(path);
        const head = isFirst ? csvLine([...plainNames(survey.names), reasonColumn]) : '';
        appendFileSync(refusedPath, head + text);
        progress = { ...progress, refusedBytes: progress.refusedBytes + Buffer.byteLength(head + text) };
      }
      progress = {
        ...progress,
        batches: progress.batches + 1,
        rows: progress.rows + checked.length,
        written: progress.written + checked.length - refused.length,
        refused: progress.refused + refused.length,
        utc: new Date().toISOString(),
      };
      journal.note(progress);
      bar(progress.rows, progress.refused);
    };
    const most = maxAtOnce(plan, survey);
    for await (const batch of batchesOf(plan, survey, progress.rows, hash)) {
      const isAfter = ({ marks }: Batch) => [...batch.refusedMarks].some((mark) => marks.has(mark));
      while (waiting.length === most || waiting.some((earlier) => isAfter(earlier.batch))) await noteFirst();
      signal.throwIfAborted();
      const answer = send(batch, journal.keyOf(progress.batches + waiting.length));
      answer.catch(() => {});
      waiting.push({ batch, answer });
    }
    while (waiting.length > 0) await noteFirst();
    if (hash.digest('hex') !== survey.sha256)
      throw new CausewayError(
        `${path} was changed while it was imported: compare its rows with what is there`,
      );
    journal.note({ ...progress, isDone: true });
    const { written, refused } = progress;
    out(`${terminal.isTerminal ? '\n' : ''}${count(written)} rows written, ${count(refused)} refused\n`);
    if (refused > 0)
      throw new CausewayError(`correct the refused rows in ${refusedPath}, and import that file`);
  } finally {
    await Promise.allSettled(waiting.map(({ answer }) => answer));
    journal.close();
  }
};

/** Where a record can have two names, and for notes, the batches are written one after another. */
const maxAtOnce = ({ into }: Plan, { columns }: Survey): number =>
  into === 'notes' || idsIn(columns).length > 1 ? 1 : 2;

const idsIn = ({ fields }: Columns): readonly string[] =>
  [...fields.values()].filter((name) => /^(?:external|client|employee)_id$/.test(name));

/** Causeway remembers a key for 24 hours. Without an id, a batch that was sent before that would be carried out twice. */
const assertKeyIsKept = ({ isResumed, progress }: Journal, { columns }: Survey): void => {
  const ageMs = Date.now() - Date.parse(progress.utc);
  if (isResumed && idsIn(columns).length === 0 && ageMs > 23 * 3600_000)
    throw new CausewayError(
      `the import stopped more than 23 hours ago, and the 200 rows after the first ${progress.rows} may have been written: take out what is there, and import the rest as another file`,
    );
};

interface Checked {
  readonly row: Row;
  /** The index among the items; absent if a rule refuses the row. */
  readonly index?: number;
  readonly reason?: string;
}

interface Batch {
  readonly items: Readonly<Record<string, unknown>>[];
  readonly checked: Checked[];
  readonly marks: Set<string>;
  /** A batch that has one of these marks must be written before. */
  readonly refusedMarks: Set<string>;
}

const emptyBatch = (): Batch => ({ items: [], checked: [], marks: new Set(), refusedMarks: new Set() });

/** Cuts the same batches in every run. No batch names a record twice: then the later row is the last to be written. */
async function* batchesOf(
  { path, rules, mode, into }: Plan,
  { columns }: Survey,
  skipped: number,
  hash: ReturnType<typeof createHash>,
): AsyncGenerator<Batch> {
  let batch = emptyBatch();
  let bytes = 0;
  let at = 0;
  for await (const row of readRows(path, { hash, onColumns: () => {} })) {
    if (at++ < skipped) continue;
    const { item, problems } = checkRow(row, columns, rules, mode, ids[into]);
    const size = problems.length > 0 ? 0 : Buffer.byteLength(JSON.stringify(item));
    const rowMarks = problems.length > 0 || into === 'notes' ? noMarks : marksOf(item, ids[into]);
    const isFull = batch.checked.length === maxRows || bytes + size > maxBytes;
    if (batch.checked.length > 0 && (isFull || rowMarks.refused.some((mark) => batch.marks.has(mark)))) {
      yield batch;
      batch = emptyBatch();
      bytes = 0;
    }
    for (const mark of rowMarks.added) batch.marks.add(mark);
    for (const mark of rowMarks.refused) batch.refusedMarks.add(mark);
    bytes += size;
    if (problems.length > 0) batch.checked.push({ row, reason: problems.join('; ') });
    else batch.checked.push({ row, index: batch.items.push(item) - 1 });
  }
  if (batch.checked.length > 0) yield batch;
}

const maxRows = 100;
/** Of the body's 1 MiB. */
const maxBytes = 900_000;

const noMarks: ReturnType<typeof marksOf> = { added: [], refused: [] };

/** Contract, "Batches": what two items of one record have in common. An address counts only if one of them has no id. */
const marksOf = (item: Readonly<Record<string, unknown>>, idName: string) => {
  const mark = (name: string) =>
    item[name] == null ? [] : [`${name}:${String(item[name]).trim().toLowerCase()}`];
  const byId = [...mark(idName), ...mark('external_id')];
  const byAddress = mark('email');
  const unidentified = byAddress.map((address) => `only ${address}`);
  return byId.length > 0
    ? { added: [...byId, ...byAddress], refused: [...byId, ...unidentified] }
    : { added: [...byAddress, ...unidentified], refused: byAddress };
};

const refusedOf = (
  checked: readonly Checked[],
  results: readonly ItemResult[],
): readonly (readonly [Row, string])[] =>
  checked.flatMap(({ row, index, reason }) => {
    if (index === undefined) return [[row, reason ?? ''] as const];
    const result = results[index]!;
    return result.status < 300 ? [] : [[row, reasonIn(result)] as const];
  });

const plainNames = (names: readonly string[]) => names.filter((name) => name !== reasonColumn);

const refusedText = (path: string, names: readonly string[], { values }: Row, reason: string): string =>
  isNdjson(path)
    ? `${JSON.stringify({ ...values, [reasonColumn]: reason })}\n`
    : csvLine([...plainNames(names).map((name) => String(values[name])), reason]);

const csvLine = (cells: readonly string[]): string =>
  `${cells.map((cell) => (/[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`;

const count = (number: number): string => number.toLocaleString('en');

/** Shows how far it is: on one line of a terminal, else now and then. */
const progressBar = ({ out, isTerminal }: Terminal, total: number, before: number) => {
  const startMs = performance.now();
  let shownMs = Number.NEGATIVE_INFINITY;
  return (rows: number, refused: number, why = ''): void => {
    const nowMs = performance.now();
    if (!isTerminal && rows < total && nowMs - shownMs < 10_000) return;
    shownMs = nowMs;
    const rate = ((rows - before) * 1000) / Math.max(1, nowMs - startMs);
    const share = Math.floor((rows / total) * 20);
    const left = rate > 0 ? `, ${Math.ceil((total - rows) / rate)} s left` : '';
    const text = `[${'#'.repeat(share).padEnd(20, '.')}] ${count(rows)} of ${count(total)}, ${count(refused)} refused, ${Math.round(rate)}/s${left}${why && ` (${why})`}`;
    out(isTerminal ? `\r${text.padEnd(100)}` : `${text}\n`);
  };
};
