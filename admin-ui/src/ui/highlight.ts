type Token = readonly [kind: '' | 'key' | 'string' | 'literal', text: string];

/** A string without an end is one plain match: no character is read twice, or hostile bodies would be slow. */
const parts =
  /(?<string>"(?:[^"\\\n]|\\.)*)(?<end>"(?:(?=\s{0,20}:)(?<colon>)|))?|\b(?<literal>\d[\d.eE+-]*|(?:true|false|null)\b)|\w+/g;

const maxHighlighted = 60_000;

/** Of JSON. Texts of over 60 000 characters stay plain. */
export const tokens = (source: string): readonly Token[] => {
  if (source.length > maxHighlighted) return [['', source]];
  const found: Token[] = [];
  let plainFrom = 0;
  for (const { index, 0: text, groups = {} } of source.matchAll(parts)) {
    const { literal, end, colon } = groups;
    const kind = (literal && 'literal') || (colon !== undefined && 'key') || (end && 'string');
    if (!kind) continue;
    if (index > plainFrom) found.push(['', source.slice(plainFrom, index)]);
    found.push([kind, text]);
    plainFrom = index + text.length;
  }
  if (plainFrom < source.length) found.push(['', source.slice(plainFrom)]);
  return found;
};
