import { existsSync, globSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { SetupError } from '../../local/setup-error.ts';
import { withLock } from '../../local/toolchain/lock.mjs';
import { onPath, run } from '../../local/toolchain/run.mjs';
import { step } from '../../local/toolchain/terminal.mjs';

const vitessVersion = 'v0.24.0';

/** A program is neither here nor can it be built here. */
export class MissingProgram extends SetupError {}

/**
 * In the folder that VITESS_BIN names, otherwise built by Go into the toolchain cache, which took 16 minutes
 * on two cores.
 * @throws MissingProgram if VITESS_BIN lacks one, or there is no Go
 */
export const vitessPrograms = async <Name extends string>(
  { VITESS_BIN: given, ...env }: NodeJS.ProcessEnv,
  cache: string,
  names: readonly Name[],
): Promise<Readonly<Record<Name, string>>> => {
  const bin = given || join(cache, `vitess-${vitessVersion}`);
  const missing = () => names.filter((name) => !existsSync(join(bin, name)));
  if (given && missing().length > 0)
    throw new MissingProgram(`VITESS_BIN is ${given}, which has no ${missing().join(', ')}.`);
  if (missing().length > 0) {
    const go = onPath('go') ?? ['/usr/local/go/bin/go'].find(existsSync);
    if (go === undefined)
      throw new MissingProgram(
        `This needs ${missing().join(', ')} of Vitess ${vitessVersion}: set VITESS_BIN to a folder that has them, ` +
          'or install Go 1.26 or newer to build them from their module.',
      );
    await withLock(join(cache, 'locks', 'vitess'), () => build({ go, env, bin, names: missing() }));
  }
  return Object.fromEntries(names.map((name) => [name, join(bin, name)])) as Record<Name, string>;
};

const build = async ({ go, env, bin, names }: BuildOptions): Promise<void> => {
  const sources = `${bin}-sources`;
  // Without cgo, the programs need no C compiler and run on any Linux.
  const options = {
    cwd: sources,
    env: { ...env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod -buildvcs=false -trimpath' },
  };
  try {
    if (!existsSync(sources))
      await step(`downloading Vitess ${vitessVersion}`, () => download(go, env, sources));
    mkdirSync(`${bin}.partial`, { recursive: true });
    mkdirSync(bin, { recursive: true });
    for (const name of names) {
      const fresh = join(`${bin}.partial`, name);
      const args = ['build', '-ldflags=-s -w', '-o', fresh, `./go/cmd/${name}`];
      await step(`building ${name}`, () => run('nice', ['-n', '19', go, ...args], options));
      renameSync(fresh, join(bin, name));
    }
    rmSync(`${bin}.partial`, { recursive: true });
  } catch (error) {
    const { output } = error as { output?: string };
    throw new MissingProgram(
      `Go could not build Vitess ${vitessVersion} (its output is above): check the connection to the Go module proxy, ` +
        'or set VITESS_BIN to a folder that has the programs.',
      { cause: output ?? error },
    );
  }
};

interface BuildOptions {
  readonly go: string;
  readonly env: NodeJS.ProcessEnv;
  readonly bin: string;
  readonly names: readonly string[];
}

/** Copies the module out of Go's cache, whose files nobody may change, and leaves out what no part here uses. */
const download = async (go: string, env: NodeJS.ProcessEnv, target: string): Promise<void> => {
  const fresh = `${target}.partial`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  // A module that requires nothing: `go install` would ask the proxy for the list of all versions.
  writeFileSync(join(fresh, 'go.mod'), 'module empty\n');
  const text = await run(go, ['mod', 'download', '-json', `vitess.io/vitess@${vitessVersion}`], {
    cwd: fresh,
    env,
  });
  const { Dir: folder } = JSON.parse(text) as { Dir: string };
  await cp(folder, fresh, { recursive: true, force: true });
  await run('chmod', ['-R', 'u+w', fresh]);
  const unused = globSync(['go/cmd/*/cli/plugin_*.go', 'go/cmd/*/plugin_*.go', 'go/trace/plugin_*.go'], {
    cwd: fresh,
  }).filter((file) => clouds.test(file));
  for (const file of unused) rmSync(join(fresh, file));
  renameSync(fresh, target);
};

/** Plugins for clouds, other topologies and tracing vendors, which are two fifths of the packages. */
const clouds =
  /plugin_(?:azblobbackupstorage|cephbackupstorage|gcsbackupstorage|s3backupstorage|consultopo|zk2topo|opentracing|datadog|jaeger|opentsdb|statsd|auth_vault|auth_ldap|sysloglogger)(?:_test)?\.go$/;
