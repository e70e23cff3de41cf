import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** The records for the nth query of a name; `servfail` fails, and `silence` sends no answer. */
export type Zone = (
  name: string,
  type: 'A' | 'AAAA',
  nth: number,
) => readonly (readonly number[])[] | 'nxdomain' | 'servfail' | 'silence';

export interface NameServer {
  readonly server: string;
  readonly asked: string[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** One question per packet (RFC 1035, section 4). */
export const startNameServer = async (zone: Zone): Promise<NameServer> => {
  const asked: string[] = [];
  const counts = new Map<string, number>();
  const socket = createSocket('udp4', (packet, from) => {
    const { name, type, end } = questionOf(packet);
    const family = type === 28 ? 'AAAA' : 'A';
    asked.push(`${family} ${name}`);
    const nth = (counts.get(`${family} ${name}`) ?? 0) + 1;
    counts.set(`${family} ${name}`, nth);
    const found = zone(name, family, nth);
    if (found === 'silence') return;
    const records = typeof found === 'string' ? [] : found;
    const code = found === 'nxdomain' ? 3 : found === 'servfail' ? 2 : 0;
    const head = Buffer.from(packet.subarray(0, 12));
    head.writeUInt16BE(0x8180 | code, 2);
    head.writeUInt16BE(records.length, 6);
    head.writeUInt32BE(0, 8);
    const answers = records.map((bytes) => {
      const record = Buffer.alloc(12);
      record.writeUInt16BE(0xc00c, 0);
      record.writeUInt16BE(type, 2);
      record.writeUInt16BE(1, 4);
      record.writeUInt32BE(0, 6);
      record.writeUInt16BE(bytes.length, 10);
      return Buffer.concat([record, Buffer.from(bytes)]);
    });
    socket.send(Buffer.concat([head, packet.subarray(12, end), ...answers]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    server: `127.0.0.1:${socket.address().port}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      socket.close();
      await once(socket, 'close');
    },
  };
};

const questionOf = (
  packet: Buffer,
): { readonly name: string; readonly type: number; readonly end: number } => {
  const labels: string[] = [];
  let at = 12;
  for (let length = packet[at] ?? 0; length > 0; length = packet[at] ?? 0) {
    labels.push(packet.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: packet.readUInt16BE(at + 1), end: at + 5 };
};
