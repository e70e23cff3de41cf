import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import { type Copy, DockerfileParser, type Entrypoint, type From, type Instruction } from 'dockerfile-ast';

export const root = resolve(import.meta.dirname, '../../..');

export interface Stage {
  readonly base: string;
  readonly name: string | undefined;
  /** Files of the context and their targets, relative to the working directory unless absolute. */
  readonly copies: readonly { readonly sources: readonly string[]; readonly target: string }[];
  readonly user: string | undefined;
  readonly entrypoint: readonly string[];
  readonly text: string;
}

export const readStages = (dockerfile: string): readonly Stage[] => {
  const stages: Instruction[][] = [];
  for (const instruction of DockerfileParser.parse(
    readFileSync(join(root, dockerfile), 'utf8'),
  ).getInstructions()) {
    if (instruction.getKeyword() === 'FROM') stages.push([]);
    stages.at(-1)?.push(instruction);
  }
  return stages.map((stage) => {
    const [from] = stage as [From];
    const ofKind = (keyword: string) => stage.filter((instruction) => instruction.getKeyword() === keyword);
    const copies = (ofKind('COPY') as Copy[])
      .filter((copy) => !copy.getFlags().some((flag) => flag.getName() === 'from'))
      .map((copy) => {
        const words = copy.getArguments().map((argument) => argument.getValue());
        return { sources: words.slice(0, -1), target: words.at(-1) ?? '' };
      });
    return {
      base: from.getImage() ?? '',
      name: from.getBuildStage() ?? undefined,
      copies,
      user: ofKind('USER').at(-1)?.getArgumentsContent() ?? undefined,
      entrypoint:
        (ofKind('ENTRYPOINT').at(-1) as Entrypoint | undefined)
          ?.getJSONStrings()
          .map((one) => one.getJSONValue()) ?? [],
      text: stage.map((instruction) => instruction.getTextContent()).join('\n'),
    };
  });
};

export const contextOf = (dockerfile: string): readonly string[] => {
  const ignored = readIgnore(`${dockerfile}.dockerignore`);
  return execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => file !== '' && existsSync(join(root, file)) && !ignored(file));
};

/** Follows Docker's rules: of the patterns that match a file or a parent folder, the last decides. */
const readIgnore = (file: string): ((path: string) => boolean) => {
  const patterns = readFileSync(join(root, file), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const glob = line.replace(/^!/, '');
      const regex = glob
        .replace(/[.+^${}()|[\]]/g, '\\$&')
        .replace(/\*\*\/|\*/g, (stars) => (stars === '*' ? '[^/]*' : '(?:.*/)?'));
      return { keeps: line.startsWith('!'), matches: new RegExp(`^${regex}(?:/.*)?$`) };
    });
  return (path) => {
    const decisive = patterns.findLast(({ matches }) => matches.test(path));
    return decisive !== undefined && !decisive.keeps;
  };
};

export const filesOf = (stage: Stage, context: readonly string[]): ReadonlyMap<string, string> => {
  const files = new Map<string, string>();
  for (const { sources, target } of stage.copies) {
    for (const source of sources) {
      const folder = source.replace(/\/$/, '');
      for (const file of context) {
        if (file === folder) {
          const into = target.endsWith('/') || target === '.' || target === './';
          files.set(posix.normalize(into ? posix.join(target, posix.basename(file)) : target), file);
        } else if (file.startsWith(`${folder}/`)) {
          files.set(posix.join(target, file.slice(folder.length + 1)), file);
        }
      }
    }
  }
  return files;
};
