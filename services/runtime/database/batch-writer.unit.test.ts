import { expect, test } from 'vitest';
import { type BatchWriterOptions, createBatchWriter } from './batch-writer.ts';
import { DatabaseUnavailable } from './errors.ts';
import type { Database } from './handle.ts';

const rows = Array.from({ length: 100 }, (_, at) => at);

const open = (more: Partial<BatchWriterOptions<unknown, number, number>>) => {
  const written: number[] = [];
  const refused: number[] = [];
  const write = createBatchWriter<unknown, number, number>({
    db: {} as Database<unknown>,
    companyOf: (row) => row,
    write: async (batch) => {
      if (batch.some((row) => row % 40 === 7)) throw new Error('refused');
      written.push(...batch);
      return batch.length;
    },
    pauseMs: () => undefined,
    onRefused: (row) => void refused.push(row),
    ...more,
  });
  return { write, written, refused };
};

test('only the rows that the database refuses are not written, and the others in their order', async () => {
  const { write, written, refused } = open({});
  const counts = await write(rows);
  expect(refused).toEqual([7, 47, 87]);
  expect(written).toEqual(rows.filter((row) => !refused.includes(row)));
  expect(counts.reduce((sum, count) => sum + count)).toBe(97);
});

test('a passing failure is retried as often as the caller wants, then thrown', async () => {
  const unavailable = new DatabaseUnavailable('unreachable', 'away');
  let left = 3;
  const { write, refused } = open({
    write: async (batch) => {
      if (left-- > 0) throw unavailable;
      return batch.length;
    },
    pauseMs: (failures) => (failures < 4 ? 1 : undefined),
  });
  expect(await write(rows)).toEqual([100]);
  left = 4;
  await expect(write(rows)).rejects.toBe(unavailable);
  expect(refused).toEqual([]);
});
