import { readFileSync } from 'node:fs';
import { clientOperations, importRulesFile } from '../../proto/client/generate.ts';
import { openApiDocument } from '../../proto/openapi/document.ts';
import { brokenPromises, type Snapshot, snapshotOf, snapshotText } from '../../proto/openapi/snapshot.ts';
import { settingsSchemaText } from '../../proto/portal/settings.ts';
import { licencesFile, renderLicences } from '../dependencies/licences.ts';
import { renderRule, ruleFile } from '../monitoring/operator.ts';
import { grantFiles } from '../mysql/file.ts';

export interface GeneratedFile {
  readonly file: URL;
  readonly render: () => string;
}

const inProto = (path: string): URL => new URL(`../../proto/${path}`, import.meta.url);
const snapshotFile = inProto('openapi/snapshot.generated.json');

/** @throws if something that clients rely on was taken away. */
const renderSnapshot = (): string => {
  const snapshot = snapshotOf(openApiDocument());
  const breaking = brokenPromises(JSON.parse(readFileSync(snapshotFile, 'utf8')) as Snapshot, snapshot);
  if (breaking.length > 0) throw new Error(`these changes may break clients:\n${breaking.join('\n')}`);
  return `${snapshotText(snapshot)}\n`;
};

/** All generated files that are committed. */
export const generatedFiles: readonly GeneratedFile[] = [
  { file: snapshotFile, render: renderSnapshot },
  { file: inProto('client/operations.generated.ts'), render: clientOperations },
  { file: inProto('client/terminal/rules.generated.ts'), render: importRulesFile },
  { file: inProto('portal/settings.generated.json'), render: settingsSchemaText },
  { file: licencesFile, render: renderLicences },
  { file: ruleFile, render: renderRule },
  ...grantFiles,
];
