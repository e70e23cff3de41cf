import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** Of what a receiver answers this much is kept (contract, "Deliveries"). */
export const keptBytes = 16 * 1024;

/**
 * A body as a person can read it: what a receiver compressed without having been asked to is inflated, but
 * never beyond what is kept; what does not inflate stays as it came.
 * @param bytes the start of the body, as much as was read.
 */
export const readable = async (
  bytes: Buffer,
  encoding: string | undefined,
): Promise<{ readonly body: Buffer; readonly more: boolean }> => {
  const open = encoding === undefined ? undefined : inflaters[encoding.trim().toLowerCase()];
  const inflated = open && bytes.length > 0 ? await inflate(open(), bytes) : undefined;
  const whole = inflated ?? bytes;
  return { body: Buffer.from(whole.subarray(0, keptBytes)), more: whole.length > keptBytes };
};

const options = { chunkSize: keptBytes };
const inflaters: Readonly<Record<string, () => Inflater>> = {
  gzip: () => createGunzip(options),
  'x-gzip': () => createGunzip(options),
  deflate: () => createInflate(options),
  br: () => createBrotliDecompress(options),
};

/** The first bytes of what inflates, a little more than is kept; undefined when nothing does. */
const inflate = (inflater: Inflater, bytes: Buffer): Promise<Buffer | undefined> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const finish = () => {
      inflater.destroy();
      resolve(length > 0 ? Buffer.concat(chunks) : undefined);
    };
    // It is not read on, and so not inflated on, once there is enough: a bomb stays folded.
    inflater.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > keptBytes) finish();
    });
    // The body was cut where reading stopped, so that the end is often an error.
    inflater.once('end', finish).once('error', finish);
    inflater.end(bytes);
  });

type Inflater = ReturnType<typeof createGunzip | typeof createInflate | typeof createBrotliDecompress>;
