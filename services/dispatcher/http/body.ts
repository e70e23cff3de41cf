import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** How many bytes of an answer's body are stored (contract, "Deliveries"). */
export const keptBytes = 16 * 1024;

/**
 * Makes a body readable: inflates one that the receiver compressed unasked, up to the stored size. A body that does
 * not inflate stays unchanged.
 * @param bytes the part of the body that was read.
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

/** Inflates slightly more than is stored. Undefined if nothing inflates. */
const inflate = (inflater: Inflater, bytes: Buffer): Promise<Buffer | undefined> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const finish = () => {
      inflater.destroy();
      resolve(length > 0 ? Buffer.concat(chunks) : undefined);
    };
    // Inflating stops once there is enough, so a compression bomb does no harm.
    inflater.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > keptBytes) finish();
    });
    // The body is cut where reading stopped, so inflating often ends in an error.
    inflater.once('end', finish).once('error', finish);
    inflater.end(bytes);
  });

type Inflater = ReturnType<typeof createGunzip | typeof createInflate | typeof createBrotliDecompress>;
