type Token = readonly [kind: '' | 'key' | 'string' | 'literal' | 'comment' | 'keyword', text: string];

const keywords =
  'import|from|const|let|var|function|return|if|else|throw|new|async|await|export|def|end|for|in|not|and|or|raise|require|use|using|static|public|class|void|func|package|err|nil|None|null|true|false|try|catch|echo|exit|final|byte|string|int';

/** A string without an end is one plain match: no character is read twice, or hostile bodies would be slow. */
const patterns = {
  json: /(?<string>"(?:[^"\\\n]|\\.)*)(?<end>"(?:(?=\s{0,20}:)(?<colon>)|))?|\b(?<literal>\d[\d.eE+-]*|(?:true|false|null)\b)|\w+/g,
  // Two slashes after a colon belong to a URL.
  code: new RegExp(
    String.raw`(?<comment>(?<!:)//.*|# .*)|(?<string>"(?:[^"\\\n]|\\.)*(?<end>")?|'(?:[^'\\\n]|\\.)*(?<end1>')?|${'`'}(?:[^${'`'}\\]|\\[^])*(?<end2>${'`'})?)|\b(?<literal>\d+)\b|\b(?<keyword>${keywords})\b|\w+`,
    'g',
  ),
};

const maxHighlighted = 60_000;

/** Texts of over 60 000 characters stay plain. */
export const tokens = (source: string, language: 'json' | 'code'): readonly Token[] => {
  if (source.length > maxHighlighted) return [['', source]];
  const found: Token[] = [];
  let plainFrom = 0;
  for (const { index, 0: text, groups = {} } of source.matchAll(patterns[language])) {
    const { comment, literal, keyword, end, end1, end2, colon } = groups;
    const kind =
      (comment && 'comment') ||
      (literal && 'literal') ||
      (keyword && 'keyword') ||
      (colon !== undefined && 'key') ||
      ((end ?? end1 ?? end2) && 'string');
    if (!kind) continue;
    if (index > plainFrom) found.push(['', source.slice(plainFrom, index)]);
    found.push([kind, text]);
    plainFrom = index + text.length;
  }
  if (plainFrom < source.length) found.push(['', source.slice(plainFrom)]);
  return found;
};
