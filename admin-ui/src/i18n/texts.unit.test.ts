import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type NodePath, parseSync, traverse, types } from '@babel/core';
import { describe, expect, test } from 'vitest';

const portal = join(import.meta.dirname, '../..');
const cli = join(portal, '../node_modules/@lingui/cli/dist/lingui.js');
const check = (...args: string[]) =>
  promisify(execFile)(process.execPath, [cli, 'check', ...args, '--verbose', '--workers', '1'], {
    cwd: portal,
  });

test('The catalogs hold the texts of the code: run `npm run texts`', async () => {
  await check('sync', '--clean');
});

test('Every text has its German', async () => {
  await check('missing');
});

/** Attributes, parameters and properties that people read. */
const readable =
  /^(?:(?:aria-)?(?:label|description)|title|placeholder|alt|hint|empty|confirm|tip|header|legend|advice|disabledReason|none|done)$/;
const macros = /^(?:t|msg|plural|select|Trans|Plural|Select|SelectOrdinal)$/;

const nameOf = (node: types.Node): string =>
  types.isJSXIdentifier(node) || types.isIdentifier(node)
    ? node.name
    : types.isStringLiteral(node)
      ? node.value
      : '';

const isInMacro = (path: NodePath): boolean =>
  path.findParent(
    ({ node }) =>
      (types.isJSXElement(node) && macros.test(nameOf(node.openingElement.name))) ||
      (types.isTaggedTemplateExpression(node) && macros.test(nameOf(node.tag))) ||
      (types.isCallExpression(node) && macros.test(nameOf(node.callee))),
  ) !== null;

const isInCode = (path: NodePath): boolean =>
  path.findParent(
    ({ node }) => types.isJSXElement(node) && /^(?:code|kbd|pre)$/.test(nameOf(node.openingElement.name)),
  ) !== null;

/** Whether a string is shown as it stands: it is a child of an element, or the value of something readable. */
const isShown = (path: NodePath): boolean => {
  const { parent, parentPath, key } = path;
  if (types.isConditionalExpression(parent)) return key !== 'test' && isShown(parentPath!);
  if (types.isLogicalExpression(parent)) return key === 'right' && isShown(parentPath!);
  if (types.isJSXExpressionContainer(parent))
    return !types.isJSXAttribute(parentPath!.parent) || isShown(parentPath!);
  if (types.isJSXAttribute(parent)) return readable.test(nameOf(parent.name));
  return types.isObjectProperty(parent) && key === 'value' && readable.test(nameOf(parent.key));
};

const hasWord = (text: string): boolean => /\p{L}{2}/u.test(text.replace(/Causeway|https:\S+/g, ''));

/** Texts that no catalog can hold, and macros that run before the language is known. */
const faultsOf = (code: string): string[] => {
  const faults: string[] = [];
  const at = (path: NodePath, text: string) =>
    faults.push(`line ${path.node.loc?.start.line}: ${text.trim()}`);
  const bare = (path: NodePath, text: string): void => {
    if (hasWord(text) && isShown(path) && !isInMacro(path) && !isInCode(path)) at(path, text);
  };
  const tree = parseSync(code, {
    babelrc: false,
    configFile: false,
    parserOpts: { plugins: ['typescript', 'jsx'] },
  });
  traverse(tree!, {
    enter: (path) => {
      const { node } = path;
      if (types.isJSXText(node) && hasWord(node.value) && !isInMacro(path) && !isInCode(path))
        at(path, node.value);
      if (types.isStringLiteral(node)) bare(path, node.value);
      if (types.isTemplateLiteral(node)) bare(path, node.quasis.map(({ value }) => value.raw).join(''));
      if (types.isTaggedTemplateExpression(node) && nameOf(node.tag) === 't' && !path.getFunctionParent())
        at(path, 't outside a function');
    },
  });
  return faults;
};

describe('All that people read is in the catalogs', () => {
  const files = globSync('src/**/*.{ts,tsx}', { cwd: portal, exclude: ['**/*.test.ts', '**/snippets/**'] });

  test.each(files)('%s', (file) => {
    expect(faultsOf(readFileSync(join(portal, file), 'utf8'))).toEqual([]);
  });

  test('Bare texts are found', () => {
    const code = `
      const early = t\`Too early\`;
      const C = () => <p title="A title" className="not text">Bare <Trans>Known</Trans>{on ? 'Yes' : t\`No\`}<code>id</code></p>;
      const column = () => ({ label: \`Of \${name}\`, title: t\`Title\`, type: 'button' });
      const state = () => <B label={isOff ? 'Off' : state} title={state === 'off' ? undefined : plural(n, { one: '# a', other: '# b' })} />;`;
    expect(faultsOf(code)).toEqual([
      'line 2: t outside a function',
      'line 3: A title',
      'line 3: Bare',
      'line 3: Yes',
      'line 4: Of',
      'line 5: Off',
    ]);
  });
});
