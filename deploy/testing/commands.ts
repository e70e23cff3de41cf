import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const deploy = resolve(import.meta.dirname, '..');

/**
 * A block of commands of a guide, unchanged.
 * @param document below `deploy`.
 * @param at which of the blocks between the title and the next one; the first unless given.
 */
export const commandsOf = (document: string, title: string, at = 0): string => {
  const blocks: string[] = [];
  let isBelow = false;
  let block: string[] | undefined;
  for (const line of readFileSync(join(deploy, document), 'utf8').split('\n')) {
    if (block) {
      if (line === '```') {
        blocks.push(block.join('\n'));
        block = undefined;
      } else block.push(line);
    } else if (/^#+ /.test(line)) isBelow = line.replace(/^#+ /, '') === title;
    else if (isBelow && line === '```sh') block = [];
  }
  const found = blocks[at];
  if (found === undefined) throw new Error(`${document} has no commands ${at} for ${title}`);
  return `${found}\n`;
};
