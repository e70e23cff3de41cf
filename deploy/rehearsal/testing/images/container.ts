import { fchownSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanUp, startProgram, type TestProgram } from '@causeway/runtime/testing';
import { temporary } from '../../../data/testing/cluster.ts';

/**
 * Runs a program on the files of an image: in namespaces of mounts and processes, on a read-only file system, as the user of
 * the image, without capabilities and without a way to gain any. It shares the network of this machine.
 */
export const startContainer = ({
  name,
  files,
  user,
  args,
  env,
  binds = {},
  hasTmp = false,
}: ContainerOptions) => {
  const log = join(temporary('container'), `${name}.log`);
  const output = openSync(log, 'w');
  // As a runtime of containers does: the program may open its standard output.
  fchownSync(output, user, user);
  const bound = Object.entries(binds).flatMap(([inside, outside]) => [outside, inside]);
  const program: TestProgram = startProgram(
    'unshare',
    [
      ...['--mount', '--pid', '--ipc', '--fork', '--kill-child=SIGKILL', '--'],
      ...['sh', '-euc', script, 'sh', files, String(user), hasTmp ? 'tmp' : '', String(bound.length / 2)],
      ...[...bound, ...args],
    ],
    {
      stdio: ['ignore', output, output],
      env: { PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...env },
    },
  );
  cleanUp(async () => void (await program.end('SIGKILL')));
  return { ...program, log: () => readFileSync(log, 'utf8').slice(-2_000) };
};

const script = `
root=$1 user=$2 tmp=$3 binds=$4
shift 4
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for one in null zero random urandom; do
  : > "$root/dev/$one"
  mount --bind "/dev/$one" "$root/dev/$one"
done
ln -s /proc/self/fd/1 "$root/dev/stdout"
ln -s /proc/self/fd/2 "$root/dev/stderr"
[ -z "$tmp" ] || mount -t tmpfs tmpfs "$root/tmp"
while [ "$binds" -gt 0 ]; do
  mount --bind "$1" "$root$2"
  shift 2
  binds=$((binds - 1))
done
mount -o remount,bind,ro "$root"
exec chroot "$root" setpriv --pdeathsig KILL --reuid "$user" --regid "$user" --clear-groups --no-new-privs \\
  --bounding-set=-all --inh-caps=-all -- sh -c 'cd /app 2> /dev/null || cd /; exec "$@"' sh "$@"`;

interface ContainerOptions {
  readonly name: string;
  /** The folder with the files of the image. */
  readonly files: string;
  readonly user: number;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Files of this machine by their path in the container. */
  readonly binds?: Readonly<Record<string, string>>;
  /** Whether `/tmp` can be written. */
  readonly hasTmp?: boolean;
}
