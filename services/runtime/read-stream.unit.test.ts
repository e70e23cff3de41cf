import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { readAtMost } from './read-stream.ts';

const streamOf = (...chunks: string[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)));

test.each([
  [0, [], ''],
  [4, ['ab', 'cd'], 'abcd'],
  [3, ['ab', 'cd'], undefined],
  [3, ['ab', 'cd', 'ef'], undefined],
])('at most %i bytes of %j', async (maxBytes, chunks, expected) => {
  const stream = streamOf(...chunks);
  expect((await readAtMost(maxBytes, stream))?.toString()).toBe(expected);
  expect(stream.destroyed).toBe(true);
});

test('a stream that breaks off is no body', async () => {
  const stream = new Readable({ read() {} });
  stream.push(Buffer.from('half'));
  const read = readAtMost(9, stream);
  stream.destroy(new Error('aborted'));
  await expect(read).rejects.toThrow('aborted');
});
