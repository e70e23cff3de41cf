/**
 * Splits an SQL script at its semicolons as the server reads it: not inside strings, quoted names or comments.
 * Comments are dropped, except those that MySQL interprets (version comments, optimizer hints). `DELIMITER` is a
 * command of the mysql client and not supported: stored programs must be a single statement.
 */
export const splitStatements = (script: string): string[] => {
  const statements: string[] = [];
  let statement = '';
  for (const [text] of script.matchAll(token)) {
    if (text === ';') {
      statements.push(statement.trim());
      statement = '';
    } else if (isComment(text)) {
      statement += ' ';
    } else {
      statement += text;
    }
  }
  statements.push(statement.trim());
  return statements.filter((one) => one !== '');
};

const token =
  /'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S]|"")*"|`[^`]*`|\/\*[\s\S]*?\*\/|--(?=\s|$)[^\n]*|#[^\n]*|;|[^'"`/\-#;]+|[\s\S]/g;

const isComment = (text: string): boolean =>
  (text.startsWith('/*') && !text.startsWith('/*!') && !text.startsWith('/*+')) ||
  /^--(?:\s|$)/.test(text) ||
  text.startsWith('#');
