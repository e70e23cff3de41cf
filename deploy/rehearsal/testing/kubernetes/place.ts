import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, temporary } from '../../../data/testing/cluster.ts';
import { run } from '../../../local/toolchain/run.mjs';
import { commandsOf } from '../../../testing/commands.ts';
import type { Api } from './api.ts';
import { startControlPlane } from './control-plane.ts';
import { addCustomResources, addVolumes } from './extras.ts';
import { startKubelets } from './kubelet.ts';
import { startMetricsServer } from './metrics-server.ts';
import type { KubernetesPrograms } from './programs.ts';

/** A cluster without containers, and a copy of the manifests with a person who runs the commands of the guides. */
export interface Place {
  readonly api: Api;
  /** The copy of the repository's folder `deploy`. */
  readonly deploy: string;
  /** Runs commands in the folder that has `overlay`, the copy of production. @throws with their output if one fails */
  shell(commands: string, variables?: Readonly<Record<string, string>>): Promise<string>;
  /** Runs a block of a guide, with `k` as operations.md defines it. */
  walk(document: string, title: string, at?: number): Promise<string>;
}

export const openPlace = async (programs: KubernetesPrograms): Promise<Place> => {
  const { api, kubeconfig } = await startControlPlane(programs);
  await startKubelets(api);
  await startMetricsServer(api);
  await addCustomResources(api);
  await addVolumes(api);

  const folder = temporary('rehearsal');
  const deploy = join(folder, 'deploy');
  for (const part of ['k8s', 'monitoring'])
    cpSync(join(root, 'deploy', part), join(deploy, part), { recursive: true });
  const overlays = join(deploy, 'k8s/overlays');
  cpSync(join(overlays, 'production'), join(overlays, 'overlay'), { recursive: true });
  writeFileSync(join(overlays, 'mysql-ca.crt'), 'the authority of MySQL');
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const program = (name: string, text: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  const { command, args } = programs.kubectl;
  const kubectl = [command, ...args].map((word) => `'${word}'`).join(' ');
  // No container runs.
  program('kubectl', `case "$3" in exec | port-forward) exit 0 ;; esac\nexec ${kubectl} "$@"`);
  // MySQL's own statements are walked by other tests.
  program('mysql', `echo "$*" >> '${folder}/statements'`);

  const shell: Place['shell'] = (commands, variables = {}) =>
    run('bash', ['-euo', 'pipefail', '-c', commands], {
      cwd: overlays,
      env: {
        PATH: `${bin}:/usr/bin:/bin`,
        HOME: folder,
        KUBECONFIG: kubeconfig,
        REPOSITORY: folder,
        ...variables,
      },
    }).catch((error: Error & { output?: string }) => {
      throw new Error(`${commands}\n${error.output ?? error.message}`);
    });
  return {
    api,
    deploy,
    shell,
    walk: (document, title, at) =>
      shell(`${commandsOf('operations.md', 'Operations')}${commandsOf(document, title, at)}`),
  };
};
