/** @returns undefined if the stream has more bytes; then it is destroyed. @throws what ends the stream early */
export const readAtMost = async (
  maxBytes: number,
  stream: AsyncIterable<Uint8Array>,
): Promise<Buffer | undefined> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};
