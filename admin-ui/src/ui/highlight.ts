/** A part of a text: what it is, and its characters. '' is anything plain. */
export type Token = readonly [kind: '' | 'key' | 'string' | 'literal' | 'comment' | 'keyword', text: string];

const json = /("(?:\\.|[^"\\])*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\b(?:true|false|null)\b)/g;
const code =
  /((?:\/\/|# )[^\n]*)|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\b(\d+)\b|\b(import|from|const|let|var|function|return|if|else|throw|new|async|await|export|def|end|for|in|not|and|or|raise|require|use|using|static|public|class|void|func|package|err|nil|None|null|true|false|try|catch|echo|exit|final|byte|string|int|var)\b/g;

/** Splits a text into coloured parts. Far from a parser, and enough to read by. Texts of over 60 000 characters stay plain. */
export const tokens = (text: string, language: 'json' | 'code'): readonly Token[] => {
  if (text.length > 60_000) return [['', text]];
  const found: Token[] = [];
  let end = 0;
  for (const match of text.matchAll(language === 'json' ? json : code)) {
    if (match.index > end) found.push(['', text.slice(end, match.index)]);
    found.push(...(language === 'json' ? jsonToken(match) : codeToken(match)));
    end = match.index + match[0].length;
  }
  if (end < text.length) found.push(['', text.slice(end)]);
  return found;
};

const jsonToken = ([, string, colon, literal]: RegExpMatchArray): Token[] => {
  if (string === undefined) return [['literal', literal ?? '']];
  if (colon === undefined) return [['string', string]];
  return [
    ['key', string],
    ['', colon],
  ];
};

const codeToken = ([whole, comment, string, literal]: RegExpMatchArray): Token[] => {
  if (comment !== undefined) return [['comment', whole]];
  if (string !== undefined) return [['string', whole]];
  return [[literal === undefined ? 'keyword' : 'literal', whole]];
};
