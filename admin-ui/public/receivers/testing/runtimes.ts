import { existsSync, globSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readEnv } from '@causeway/runtime';
import { providePrograms } from '../../../../deploy/local/toolchain/provide.mjs';

interface Runtime {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const wanted = { php: ['php-cli'], ruby: ['ruby', 'ruby-webrick'] } as const;

/** Programs of downloaded Debian packages look for their parts in system folders: sets the actual paths. */
export const provideRuntime = async (name: keyof typeof wanted): Promise<Runtime | undefined> => {
  const cache = dirname(readEnv().CAUSEWAY_TOOLCHAIN ?? '');
  const provided = await providePrograms(cache, { [name]: wanted[name] }).catch(() => undefined);
  const program = provided?.[name];
  if (!program || program.args.length === 0) return program;
  const usr = resolve(program.args.at(-1)!, '../..');
  const within = (pattern: string): string[] =>
    globSync(pattern, { cwd: usr }).map((path) => join(usr, path));
  const args = program.args.slice(0, -1);
  if (name === 'ruby') {
    const folders = within('{lib,lib/*}/ruby/[0-9]*').concat(
      within('share/rubygems-integration/all/gems/webrick-*/lib'),
    );
    return {
      ...program,
      args: [...args, join(usr, 'bin/ruby'), '--disable=gems'],
      env: { RUBYLIB: folders.filter((folder) => existsSync(folder)).join(':') },
    };
  }
  const [php = 'php'] = within('bin/php[0-9]*');
  return { ...program, args: [...args, php, '-n'] };
};
