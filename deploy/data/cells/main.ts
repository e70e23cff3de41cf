import { parseArgs } from 'node:util';
import { ConfigError, parseConfig, readEnv } from '@causeway/runtime';
import { z } from 'zod';
import { maxCells } from './ids.ts';
import { type Cells, cancelMove, copyCompany, dropCompany, prepareCell } from './move.ts';
import { MoveError, openCell } from './sql.ts';

// Prepares a cell, and moves a company from one cell to another: see ../README.md, "Cells". Exits 78 (EX_CONFIG) for an
// invalid setting or option, and 1 if it failed; it may then be run again.

const usage =
  'usage: main.ts prepare --cell N | copy --company ID --cell N | cancel --company ID | drop --company ID';

const wholeNumber = (name: string, text: string | undefined, min: number, max: number): number => {
  const value = text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new ConfigError(`--${name} takes a whole number from ${min} to ${max}; ${usage}`);
};

const run = async (cells: Cells): Promise<void> => {
  const { values, positionals } = parseArgs({
    options: { company: { type: 'string' }, cell: { type: 'string' } },
    allowPositionals: true,
  });
  const company = () => wholeNumber('company', values.company, 1, 999_999_999_999_999);
  const cell = () => wholeNumber('cell', values.cell, 0, maxCells - 1);
  switch (positionals.join(' ')) {
    case 'prepare':
      return prepareCell(cells, cell());
    case 'copy':
      return copyCompany(cells, company(), cell());
    case 'cancel':
      return cancelMove(cells, company());
    case 'drop':
      return dropCompany(cells, company());
    default:
      throw new ConfigError(usage);
  }
};

try {
  const { FROM_MYSQL_URL, TO_MYSQL_URL } = parseConfig(
    { FROM_MYSQL_URL: z.string(), TO_MYSQL_URL: z.string() },
    readEnv(),
  );
  const from = await openCell(FROM_MYSQL_URL);
  const to = await openCell(TO_MYSQL_URL);
  try {
    await run({ from, to, say: (line) => process.stdout.write(`${line}\n`) });
  } finally {
    await from.end();
    await to.end();
  }
} catch (error) {
  const known = error instanceof ConfigError || error instanceof MoveError;
  process.stderr.write(`cells: ${known ? error.message : String(error)}\n`);
  process.exitCode = error instanceof ConfigError ? 78 : 1;
}
