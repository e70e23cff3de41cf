import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const deploy = resolve(import.meta.dirname, '..');

/** @param document below `deploy`. */
export const commandsOf = (document: string, title: string): string => {
  const lines = readFileSync(join(deploy, document), 'utf8').split('\n');
  const heading = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === title);
  const section = lines.slice(heading + 1);
  const begin = section.findIndex((line) => line === '```sh' || /^#+ /.test(line));
  if (heading < 0 || section[begin] !== '```sh') throw new Error(`${document} has no commands for ${title}`);
  return `${section.slice(begin + 1, section.indexOf('```', begin)).join('\n')}\n`;
};
