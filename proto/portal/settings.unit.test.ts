import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { settingsSchemaText } from './settings.ts';

test('the schema of the settings file is current: `npm run openapi -- --snapshot` writes it', () => {
  const written = readFileSync(new URL('./settings.generated.json', import.meta.url), 'utf8');
  expect(written).toBe(settingsSchemaText());
});
