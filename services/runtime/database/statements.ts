/**
 * Splits an SQL script at its semicolons, the way the server reads it: not inside of strings, quoted names
 * or comments. Comments are dropped, except those that MySQL obeys (version comments, optimizer hints).
 * `DELIMITER` belongs to the mysql client and is not known here: keep stored programs to one statement.
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
