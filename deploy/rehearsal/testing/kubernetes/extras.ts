import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from './api.ts';

/**
 * The custom resources that production uses, with schemas that accept every field: the manifests are checked against the
 * schemas of KEDA and the Prometheus operator in `npm test`.
 */
export const addCustomResources = async (api: Api): Promise<void> => {
  for (const { group, version, kind, plural } of [
    { group: 'keda.sh', version: 'v1alpha1', kind: 'ScaledObject', plural: 'scaledobjects' },
    { group: 'monitoring.coreos.com', version: 'v1', kind: 'PodMonitor', plural: 'podmonitors' },
    { group: 'monitoring.coreos.com', version: 'v1', kind: 'PrometheusRule', plural: 'prometheusrules' },
  ]) {
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    await api.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
        versions: [{ name: version, served: true, storage: true, schema }],
      },
    });
    const path = `/apis/${group}/${version}/${plural}`;
    while ((await api.ask('GET', path)).status !== 200) await sleep(200);
  }
};

/** Empty volumes, and a class that can grow them, as the claims of the manifests expect. */
export const addVolumes = async (api: Api): Promise<void> => {
  await api.create('/apis/storage.k8s.io/v1/storageclasses', {
    metadata: { name: 'disks', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: 'kubernetes.io/no-provisioner',
    allowVolumeExpansion: true,
  });
  for (let at = 0; at < volumes; at++)
    await api.create('/api/v1/persistentvolumes', {
      metadata: { name: `disk-${at}` },
      spec: {
        storageClassName: 'disks',
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '20Gi' },
        hostPath: { path: `/nonexistent/disk-${at}` },
      },
    });
};

const volumes = 12;
