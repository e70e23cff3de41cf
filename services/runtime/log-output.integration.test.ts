import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLogOutput } from './log.ts';
import { cleanUp } from './testing/cleanup.ts';

const temporary = () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-log-'));
  const path = join(folder, 'log');
  const fd = openSync(path, 'w');
  cleanUp(() => {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  });
  return { fd, text: () => readFileSync(path, 'utf8') };
};

test('lines are written in order, the last ones by a flush', async () => {
  const { fd, text } = temporary();
  const output = createLogOutput(fd, () => expect.unreachable());
  const lines = Array.from({ length: 3000 }, (_, at) => `${at} ${'ä'.repeat(100)}\n`);
  for (const line of lines.slice(0, 2000)) output.write(line);
  const written = lines.slice(0, 2000).join('');
  await expect.poll(() => text()).toBe(written);
  for (const line of lines.slice(2000, 2010)) output.write(line);
  output.flush();
  expect(text()).toBe(written + lines.slice(2000, 2010).join(''));
});

test('a full disk loses the lines beyond the limit, and neither a write nor a flush throws or hangs', () => {
  // Stays open: the output goes on trying, and its number could be that of the next test's connection to MySQL.
  const fd = openSync('/dev/full', 'w');
  let lost = 0;
  const output = createLogOutput(fd, () => lost++);
  for (let line = 0; line < 3000; line++) output.write(`${'x'.repeat(1023)}\n`);
  expect(lost).toBeGreaterThan(1000);
  output.flush();
});
