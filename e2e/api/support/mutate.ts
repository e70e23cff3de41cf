/** A seeded random number generator (mulberry32), so that a failing run can be repeated. */
export const seeded = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** Input that breaks parsers more often than random bytes do. */
const spice = [
  '\0',
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  ' ',
  '\t',
  '\x0b',
  '\x7f',
  '\x80',
  '\xff',
  ':',
  ';',
  ',',
  '%',
  '%00',
  '%ff',
  '/',
  '//',
  '..',
  '?',
  '#',
  '&',
  '=',
  '-1',
  '0',
  '99999999999999999999',
  'chunked',
  'Content-Length: 5\r\n',
  'Transfer-Encoding: chunked\r\n',
  'X-Api-Key: x\r\n',
  'Host: y\r\n',
  'HTTP/1.0',
  'HTTP/9.9',
  'GET ',
  'é',
  '{',
  '"',
  'A'.repeat(5_000),
  'X: y\r\n'.repeat(120),
];

/** Makes one to four changes to a request, of single bytes or whole parts. */
export const mutate = (request: string, random: () => number): string => {
  const below = (limit: number): number => Math.floor(random() * limit);
  let text = request;
  for (let changes = 1 + below(4); changes > 0; changes--) {
    const at = below(text.length + 1);
    const length = below(8);
    const [before, after] = [text.slice(0, at), text.slice(at)];
    switch (below(7)) {
      case 0:
        text = before + String.fromCharCode(below(256)) + after.slice(1);
        break;
      case 1:
        text = before + spice[below(spice.length)] + after;
        break;
      case 2:
        text = before + after.slice(length);
        break;
      case 3:
        text = before + after.slice(0, length) + after;
        break;
      case 4: {
        const lines = text.split('\r\n');
        const line = lines[below(lines.length)] ?? '';
        lines.splice(below(lines.length), 0, line);
        text = lines.join('\r\n');
        break;
      }
      case 5: {
        const lines = text.split('\r\n');
        lines.splice(below(lines.length), 1);
        text = lines.join('\r\n');
        break;
      }
      default:
        text = before + spice[below(spice.length)] + after.slice(length);
    }
  }
  return text;
};
