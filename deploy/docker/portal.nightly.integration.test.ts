import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cleanUp } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { contextOf, filesOf, readStages, root } from './testing/dockerfile.ts';

const dockerfile = 'deploy/docker/services.Dockerfile';

test('the portal builds from the context of the image, with the command of the image', () => {
  const app = mkdtempSync(join(tmpdir(), 'causeway-portal-image-'));
  cleanUp(() => rmSync(app, { recursive: true, force: true }));
  const stages = readStages(dockerfile).filter(({ name }) => name === 'manifests' || name === 'portal');
  const build = stages.at(-1);
  for (const stage of stages)
    for (const [to, from] of filesOf(stage, contextOf(dockerfile))) {
      mkdirSync(join(app, dirname(to)), { recursive: true });
      cpSync(join(root, from), join(app, to));
    }
  symlinkSync(join(root, 'node_modules'), join(app, 'node_modules'));
  const script = /^RUN node (\S+)$/m.exec(build!.text)?.[1] ?? '';
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { cwd: app, encoding: 'utf8' });
  expect(`${stdout}${stderr}`).toMatch(/The portal is built/);
  expect(status).toBe(0);
  // The folder whose files the gateway allows to be cached forever.
  expect(readFileSync(join(app, 'admin-ui/dist/index.html'), 'utf8')).toMatch(/src="\/portal\/assets\//);
});
