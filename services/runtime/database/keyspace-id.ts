/**
 * The keyspace ID of a company, as 16 hexadecimal digits: where Vitess's vindex `xxhash` puts its rows. It is the XXH64
 * of the id's decimal digits, the lowest byte first (https://xxhash.com; go/vt/vtgate/vindexes/xxhash.go).
 */
export const keyspaceIdOf = (companyId: number): string => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(xxh64(Buffer.from(String(companyId))));
  return bytes.toString('hex');
};

/** For fewer than 32 bytes, with seed 0. Longer input has a part of its own, and no id is that long. */
const xxh64 = (bytes: Buffer): bigint => {
  let hash = uint64(prime5 + BigInt(bytes.length));
  let at = 0;
  for (; at + 8 <= bytes.length; at += 8) {
    const lane = uint64(rotated(uint64(bytes.readBigUInt64LE(at) * prime2), 31n) * prime1);
    hash = uint64(rotated(hash ^ lane, 27n) * prime1 + prime4);
  }
  for (; at + 4 <= bytes.length; at += 4)
    hash = uint64(rotated(hash ^ uint64(BigInt(bytes.readUInt32LE(at)) * prime1), 23n) * prime2 + prime3);
  for (; at < bytes.length; at++)
    hash = uint64(rotated(hash ^ uint64(BigInt(bytes[at]!) * prime5), 11n) * prime1);
  hash = uint64((hash ^ (hash >> 33n)) * prime2);
  hash = uint64((hash ^ (hash >> 29n)) * prime3);
  return hash ^ (hash >> 32n);
};

const uint64 = (value: bigint): bigint => BigInt.asUintN(64, value);
const rotated = (value: bigint, bits: bigint): bigint => uint64((value << bits) | (value >> (64n - bits)));

const prime1 = 0x9e3779b185ebca87n;
const prime2 = 0xc2b2ae3d27d4eb4fn;
const prime3 = 0x165667b19e3779f9n;
const prime4 = 0x85ebca77c2b2ae63n;
const prime5 = 0x27d4eb2f165667c5n;
