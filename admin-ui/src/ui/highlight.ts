type Token = readonly [kind: '' | 'key' | 'string' | 'literal' | 'comment' | 'keyword', text: string];

/** The text operations used here; a test counts the reads. */
export type Source = Pick<string, 'length' | 'charAt' | 'slice'>;

const literals = new Set(['true', 'false', 'null']);
const keywords = new Set(
  'import from const let var function return if else throw new async await export def end for in not and or raise require use using static public class void func package err nil None null true false try catch echo exit final byte string int var'.split(
    ' ',
  ),
);
const maxHighlighted = 60_000;

/**
 * Splits a text into coloured parts. It is not a parser. It reads each character a fixed number of times, because
 * receivers may send bodies that would be slow to parse. Texts of over 60 000 characters stay plain.
 */
export const tokens = (source: Source, language: 'json' | 'code'): readonly Token[] => {
  if (source.length > maxHighlighted) return [['', source.slice(0)]];
  const found: Token[] = [];
  /** The end of a failed search for this kind of closing quote: there is none before it. */
  const unclosed = new Map<string, number>();
  let plainFrom = 0;
  let at = 0;
  const add = (kind: Token[0], end: number): void => {
    if (at > plainFrom) found.push(['', source.slice(plainFrom, at)]);
    found.push([kind, source.slice(at, end)]);
    at = end;
    plainFrom = end;
  };
  const quotes = language === 'json' ? '"' : '"\'`';
  while (at < source.length) {
    const character = source.charAt(at);
    if (quotes.includes(character)) {
      const end = (unclosed.get(character) ?? 0) > at ? 0 : closing(source, at, unclosed);
      if (end === 0) at++;
      else if (language === 'json' && isKey(source, end)) add('key', end);
      else add('string', end);
    } else if (language === 'code' && startsComment(source, at)) add('comment', lineEnd(source, at));
    else if (isWord(character)) {
      const end = wordEnd(source, at);
      const word = source.slice(at, end);
      if (language === 'json' ? literals.has(word) : /^\d+$/.test(word)) add('literal', end);
      else if (language === 'json' && /^\d/.test(word)) add('literal', numberEnd(source, end));
      else if (language === 'code' && keywords.has(word)) add('keyword', end);
      else at = end;
    } else at++;
  }
  if (plainFrom < source.length) found.push(['', source.slice(plainFrom)]);
  return found;
};

/** The end of the string that begins here; 0 if it has none, which is then remembered. */
const closing = (source: Source, start: number, unclosed: Map<string, number>): number => {
  const quote = source.charAt(start);
  let at = start + 1;
  for (; at < source.length; at++) {
    const character = source.charAt(at);
    if (character === quote) return at + 1;
    if (character === '\n' && quote !== '`') break;
    if (character === '\\') at++;
  }
  unclosed.set(quote, at);
  return 0;
};

/** Only blanks and a colon follow. */
const isKey = (source: Source, end: number): boolean => {
  let at = end;
  while (at < source.length && at < end + maxBlanks && /\s/.test(source.charAt(at))) at++;
  return source.charAt(at) === ':';
};
const maxBlanks = 20;

const startsComment = (source: Source, at: number): boolean => {
  const [one, two] = [source.charAt(at), source.charAt(at + 1)];
  // Two slashes after a colon belong to a URL.
  return (one === '/' && two === '/' && source.charAt(at - 1) !== ':') || (one === '#' && two === ' ');
};

const lineEnd = (source: Source, start: number): number => {
  let at = start;
  while (at < source.length && source.charAt(at) !== '\n') at++;
  return at;
};

const isWord = (character: string): boolean => /\w/.test(character);

const wordEnd = (source: Source, start: number): number => {
  let at = start;
  while (at < source.length && isWord(source.charAt(at))) at++;
  return at;
};

/** The rest of a number after its first digits: a fraction and an exponent. */
const numberEnd = (source: Source, start: number): number => {
  let at = start;
  while (at < source.length && /[\d.eE+-]/.test(source.charAt(at))) at++;
  return at;
};
