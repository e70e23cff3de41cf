/**
 * Whether a statement differs from listed ones only in its optional conditions and assignments: each is in the list, but
 * not all their combinations. The verdict is no worse: a further condition moves no statement to another shard.
 */
export const createVariants = (listed: readonly string[]): ((statement: string) => boolean) => {
  const known = new Map<string, { readonly parts: Set<string>; required: ReadonlySet<string> }>();
  for (const statement of listed) {
    const { frame, parts } = takeApart(statement);
    const one = known.get(frame) ?? { parts: new Set<string>(), required: new Set(parts) };
    for (const part of parts) one.parts.add(part);
    one.required = new Set(parts.filter((part) => one.required.has(part)));
    known.set(frame, one);
  }
  return (statement) => {
    const { frame, parts } = takeApart(statement);
    const one = known.get(frame);
    return (
      one !== undefined &&
      parts.every((part) => one.parts.has(part)) &&
      [...one.required].every((part) => parts.includes(part))
    );
  };
};

/** The conditions joined by `and` in the outermost WHERE and the assignments of SET, and the statement without them. */
const takeApart = (statement: string): { readonly frame: string; readonly parts: readonly string[] } => {
  const parts: string[] = [];
  const frame = outermost(statement)
    .replace(/ set (.*?)(?= where |$)/i, (_, list: string) => {
      parts.push(...list.split(', ').map((part) => `set ${part}`));
      return ' set …';
    })
    .replace(/ where (.*?)(?= group by | having | order by | limit | for update|$)/i, (_, list: string) => {
      parts.push(...list.split(/ and /i));
      return ' where …';
    });
  return { frame, parts };
};

/** What is in parentheses keeps its commas and words, as one character each. */
const outermost = (statement: string): string => {
  let depth = 0;
  return [...statement]
    .map((character) => {
      if (character === '(') depth++;
      else if (character === ')') depth--;
      const isInside = depth > 0 || character === ')';
      return isInside && character === ' ' ? '\u00a0' : character;
    })
    .join('');
};
