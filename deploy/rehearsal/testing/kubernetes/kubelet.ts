import { setTimeout as sleep } from 'node:timers/promises';
import { cleanUp } from '@causeway/runtime/testing';
import type { PodSpec } from '../../../k8s/testing/manifests.ts';
import type { Api } from './api.ts';

/**
 * Three nodes in three zones whose kubelet runs nothing: it reports a pod as running and ready, and a job's pod as
 * succeeded, once every secret, config map and volume that the pod names exists with its keys. A pod that lacks one waits
 * with the reason, as on a real node. Pods that are deleted end at once.
 */
export const startKubelets = async (api: Api): Promise<void> => {
  for (const name of nodeNames) await register(api, name);
  let failure: unknown;
  const stopping = new AbortController();
  const running = (async () => {
    for (let beatMs = 0; !stopping.signal.aborted; await sleep(250)) {
      try {
        if (Date.now() - beatMs > 5_000) {
          for (const name of nodeNames) await beat(api, name);
          beatMs = Date.now();
        }
        for (const pod of await api.list<Pod>('/api/v1/pods')) await serve(api, pod);
      } catch (error) {
        // The API server ends before this does.
        failure ??= error;
      }
    }
  })();
  cleanUp(async () => {
    stopping.abort();
    await running;
    if (failure) process.stdout.write(`the kubelets met ${failure}\n`);
  });
};

const nodeNames = ['node-a', 'node-b', 'node-c'] as const;

interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly { readonly kind: string }[];
  };
  readonly spec: PodSpec & {
    readonly nodeName?: string;
    readonly volumes?: readonly { readonly persistentVolumeClaim?: { readonly claimName: string } }[];
  };
  readonly status: {
    readonly phase: string;
    readonly containerStatuses?: readonly {
      readonly state?: { readonly waiting?: { readonly message?: string } };
    }[];
  };
}

const register = async (api: Api, name: string): Promise<void> => {
  const zone = `zone-${name.at(-1)}`;
  const labels = {
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
    'topology.kubernetes.io/zone': zone,
  };
  await api.create('/api/v1/nodes', { metadata: { name, labels } });
  await api.create('/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases', {
    metadata: { name },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: microTime() },
  });
  await beat(api, name);
};

const beat = async (api: Api, name: string): Promise<void> => {
  const room = { cpu: '16', memory: '64Gi', pods: '110', 'ephemeral-storage': '100Gi' };
  const now = new Date().toISOString();
  await api.ask('PATCH', `/api/v1/nodes/${name}/status`, {
    status: {
      capacity: room,
      allocatable: room,
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'KubeletReady',
          lastHeartbeatTime: now,
          lastTransitionTime: now,
        },
      ],
    },
  });
  await api.ask('PATCH', `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${name}`, {
    spec: { renewTime: microTime() },
  });
};

const serve = async (api: Api, pod: Pod): Promise<void> => {
  const { metadata, spec, status } = pod;
  const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;
  if (spec.nodeName === undefined) return;
  if (metadata.deletionTimestamp !== undefined) {
    await api.ask('DELETE', path, { gracePeriodSeconds: 0 });
    return;
  }
  if (status.phase !== 'Pending') return;
  const missing = await firstMissing(api, pod);
  if (missing !== undefined) {
    if (status.containerStatuses?.[0]?.state?.waiting?.message === missing) return;
    const waiting = { waiting: { reason: 'CreateContainerConfigError', message: missing } };
    await api.ask('PATCH', `${path}/status`, {
      status: { containerStatuses: statuses(pod, false, waiting) },
    });
    return;
  }
  const isJob = metadata.ownerReferences?.some(({ kind }) => kind === 'Job') ?? false;
  const now = new Date().toISOString();
  const state = isJob
    ? { terminated: { exitCode: 0, reason: 'Completed', startedAt: now, finishedAt: now } }
    : { running: { startedAt: now } };
  const isReady = isJob ? 'False' : 'True';
  const address = `10.1.0.${(addresses++ % 250) + 1}`;
  await api.ask('PATCH', `${path}/status`, {
    status: {
      phase: isJob ? 'Succeeded' : 'Running',
      startTime: now,
      podIP: address,
      podIPs: [{ ip: address }],
      conditions: ['Initialized', 'PodReadyToStartContainers', 'ContainersReady', 'Ready'].map((type) => ({
        type,
        status: /Ready$/.test(type) ? isReady : 'True',
        lastTransitionTime: now,
      })),
      containerStatuses: statuses(pod, !isJob, state),
    },
  });
};

let addresses = 0;

const statuses = ({ spec }: Pod, ready: boolean, state: object) =>
  spec.containers.map(({ name, image }) => ({
    name,
    image,
    imageID: image,
    ready,
    started: ready,
    restartCount: 0,
    state,
  }));

/** What a kubelet would wait for. */
const firstMissing = async (
  api: Api,
  { metadata: { namespace }, spec }: Pod,
): Promise<string | undefined> => {
  const dataOf = async (kind: 'secrets' | 'configmaps', name: string) => {
    const { status, body } = await api.ask('GET', `/api/v1/namespaces/${namespace}/${kind}/${name}`);
    return status === 200 ? Object.keys({ ...body.data, ...body.binaryData }) : undefined;
  };
  for (const { env = [] } of spec.containers)
    for (const { valueFrom } of env) {
      const wanted = valueFrom?.secretKeyRef;
      if (wanted && !(await dataOf('secrets', wanted.name))?.includes(wanted.key))
        return `secret ${wanted.name} lacks ${wanted.key}`;
    }
  for (const { secret, configMap, persistentVolumeClaim } of spec.volumes ?? []) {
    if (secret) {
      const keys = await dataOf('secrets', secret.secretName);
      const lacking = (secret.items ?? []).find(({ key }) => !keys?.includes(key));
      if (!keys || lacking) return `secret ${secret.secretName} lacks ${lacking?.key ?? 'everything'}`;
    }
    if (configMap && !(await dataOf('configmaps', configMap.name))) return `no config map ${configMap.name}`;
    if (persistentVolumeClaim) {
      const { claimName } = persistentVolumeClaim;
      const { body } = await api.ask(
        'GET',
        `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${claimName}`,
      );
      if (body.status?.phase !== 'Bound') return `claim ${claimName} is not bound`;
    }
  }
  return undefined;
};

const microTime = (): string => new Date().toISOString().replace('Z', '000Z');
