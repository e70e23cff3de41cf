import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { readEnv } from '@causeway/runtime';
import { parseAllDocuments, stringify } from 'yaml';
import { providePrograms } from '../../local/toolchain/provide.mjs';
import { required } from '../../settings/testing/readers.ts';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Labels;
  };
  // biome-ignore lint/suspicious/noExplicitAny: its schema is checked by schemas.integration.test.ts.
  readonly spec?: any;
  readonly data?: Readonly<Record<string, string>>;
}

export type Labels = Readonly<Record<string, string>>;

export interface PodTemplate {
  readonly owner: Manifest;
  readonly labels: Labels;
  readonly spec: PodSpec;
}

interface PodSpec {
  readonly containers: readonly Container[];
  readonly volumes?: readonly {
    readonly name: string;
    readonly configMap?: { readonly name: string };
    readonly secret?: {
      readonly secretName: string;
      readonly items?: readonly { readonly key: string; readonly path: string }[];
    };
  }[];
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly automountServiceAccountToken?: boolean;
  readonly terminationGracePeriodSeconds?: number;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly Variable[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly resources?: { readonly requests?: unknown; readonly limits?: Readonly<Record<string, string>> };
  readonly lifecycle?: { readonly preStop?: { readonly sleep?: { readonly seconds: number } } };
  readonly [probe: `${string}Probe`]: Readonly<Record<string, unknown>> | undefined;
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly secretKeyRef?: { readonly name: string; readonly key: string };
    readonly fieldRef?: { readonly fieldPath: string };
  };
}

export const overlays = [
  'overlays/local',
  'overlays/local/operator',
  'overlays/production',
  'overlays/production/operator',
  // Made below: production while passwords of NATS are replaced.
  'overlays/rotating',
] as const;
export type Overlay = (typeof overlays)[number];

export const renderOverlays = async (): Promise<Readonly<Record<Overlay, readonly Manifest[]>>> => {
  const cache = dirname(readEnv().CAUSEWAY_TOOLCHAIN ?? '');
  const { kubectl } = await providePrograms(cache, { kubectl: 'kubernetes-client' });
  // Renders a copy, so that the local overlay's certificate does not stay in the work tree.
  const copy = mkdtempSync(join(tmpdir(), 'causeway-manifests-'));
  const render = (overlay: Overlay): readonly Manifest[] => {
    const args = [...kubectl.args, 'kustomize', join(copy, 'k8s', overlay)];
    const text = execFileSync(kubectl.command, args, { encoding: 'utf8' });
    return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
  };
  try {
    for (const part of ['k8s', 'monitoring'])
      cpSync(resolve(import.meta.dirname, '../..', part), join(copy, part), { recursive: true });
    execFileSync(join(copy, 'k8s/overlays/local/make-certificate.sh'), { stdio: 'pipe' });
    mkdirSync(join(copy, 'k8s/overlays/rotating'));
    writeFileSync(
      join(copy, 'k8s/overlays/rotating/kustomization.yaml'),
      stringify({
        apiVersion: 'kustomize.config.k8s.io/v1beta1',
        kind: 'Kustomization',
        resources: ['../production'],
        components: ['../../components/nats-next'],
      }),
    );
    return Object.fromEntries(overlays.map((overlay) => [overlay, render(overlay)])) as Readonly<
      Record<Overlay, readonly Manifest[]>
    >;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
};

export const podsOf = (manifests: readonly Manifest[]): readonly PodTemplate[] =>
  manifests.flatMap((owner) => {
    if (owner.kind === 'Pod') return [{ owner, labels: owner.metadata.labels ?? {}, spec: owner.spec }];
    const template = owner.spec?.template;
    return template?.spec?.containers
      ? [{ owner, labels: template.metadata.labels as Labels, spec: template.spec as PodSpec }]
      : [];
  });

interface Selector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** @throws for an operator that this project does not use. */
export const selects = ({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean =>
  Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
  matchExpressions.every(({ key, operator, values = [] }) => {
    if (operator !== 'In') throw new Error(`a selector with ${operator}`);
    return values.includes(labels[key] ?? '');
  });

/** A container's variables with `$(NAME)` expanded from earlier ones, like the kubelet does. */
export const environmentOf = (
  { env = [] }: Container,
  given: (variable: Variable) => string,
): Readonly<Record<string, string>> => {
  const known: Record<string, string> = {};
  for (const variable of env) {
    const text = variable.value ?? given(variable);
    known[variable.name] = text.replace(/\$\(([A-Z_0-9]+)\)/g, (whole, name: string) => known[name] ?? whole);
  }
  return known;
};

export const ofKind = (manifests: readonly Manifest[], kind: string): readonly Manifest[] =>
  manifests.filter((manifest) => manifest.kind === kind);

const entry = /^services\/dist\/(\w+)\.mjs$|^deploy\/(?:\w+\/)*(\w+)\/main\.ts$/;
const entryOf = ({ spec }: PodTemplate) => entry.exec(spec.containers[0]?.args?.[0] ?? '');

export const ownPods = (manifests: readonly Manifest[]): readonly PodTemplate[] =>
  podsOf(manifests).filter((pod) => entryOf(pod) !== null);
export const processOf = (pod: PodTemplate): string => entryOf(pod)!.slice(1).join('');

export const secret = ({ name, valueFrom }: { name: string; valueFrom?: object }): string =>
  required[name] ?? (valueFrom && 'fieldRef' in valueFrom ? 'pod-7d9c-x2x' : 'given');
