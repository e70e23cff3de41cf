import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { cleanUp } from '@causeway/runtime/testing';
import { describe, expect, test } from 'vitest';
import { type Manifest, overlays, renderOverlays } from './testing/manifests.ts';

// The schemas are those of Kubernetes 1.34, KEDA and the Prometheus operator, from npm packages: as validators, which
// check required fields and formats, and as types, which know every field.

const rendered = await renderOverlays();
const modules = resolve(import.meta.dirname, '../../node_modules');

const packageOf = (apiVersion: string): string => {
  if (apiVersion.startsWith('keda.sh/')) return '@kubernetes-models/keda/';
  if (apiVersion.startsWith('monitoring.coreos.com/')) return '@kubernetes-models/prometheus-operator/';
  return 'kubernetes-models/';
};
const moduleOf = ({ apiVersion, kind }: Manifest): string => `${packageOf(apiVersion)}${apiVersion}/${kind}`;

type Model = new (manifest: Manifest) => { validate(): void };

/** Long secrets have several lines. The cluster joins them, the validator does not. */
const inOneLine = (manifest: Manifest): Manifest => {
  if (manifest.kind !== 'Secret') return manifest;
  const data = Object.entries(manifest.data ?? {}).map(([key, value]) => [key, value.replace(/\s/g, '')]);
  return { ...manifest, data: Object.fromEntries(data) };
};

describe.each(overlays)('%s', (overlay) => {
  const manifests = rendered[overlay].map(inOneLine);

  test.each(manifests)('$kind $metadata.name satisfies its schema', async (manifest) => {
    const models = (await import(moduleOf(manifest))) as Readonly<Record<string, Model>>;
    expect(() => new models[manifest.kind]!(manifest).validate()).not.toThrow();
  });
});

/** Type-checks manifests as literals of their types, which rejects unknown fields. */
const strangers = (manifests: readonly Manifest[]): string => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-manifests-'));
  cleanUp(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(modules, join(folder, 'node_modules'));
  const text = manifests.map(
    (manifest, at) =>
      `import type { I${manifest.kind} as T${at} } from '${moduleOf(manifest)}';\n` +
      `export const m${at}: T${at} = ${JSON.stringify(manifest, undefined, 1)};\n`,
  );
  writeFileSync(join(folder, 'manifests.ts'), text.join(''));
  const options = {
    module: 'nodenext',
    target: 'es2024',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, files: ['manifests.ts'] }),
  );
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const compiler = join(modules, 'typescript/bin/tsc');
  return spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' }).stdout;
};

test.each(overlays)('%s has no field that its schema does not know', (overlay) => {
  expect(strangers(rendered[overlay])).toBe('');
});
