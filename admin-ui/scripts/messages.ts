import { fileURLToPath } from 'node:url';
import { type PluginObj, transformAsync, traverse, types } from '@babel/core';
import macros from '@lingui/babel-plugin-lingui-macro';
import { getConfig } from '@lingui/conf';
import { compileMessageOrThrow } from '@lingui/message-utils/compileMessage';
import { lingui } from '@lingui/vite-plugin';
import type { Plugin } from 'vite';

const cwd = fileURLToPath(new URL('..', import.meta.url));
const linguiConfig = getConfig({ cwd });

/** Turns the macros of the texts into calls that hold the English text, ready to show: English needs no catalog. */
const texts: Plugin = {
  name: 'texts',
  enforce: 'pre',
  transform: {
    filter: { id: /\/admin-ui\/src\/.*\.tsx?$/, code: /@lingui\/\w+\/macro/ },
    handler: async (code, filename) => {
      const result = await transformAsync(code, {
        filename,
        babelrc: false,
        configFile: false,
        sourceMaps: true,
        parserOpts: { plugins: ['typescript', 'jsx'] },
        plugins: [[macros, { descriptorFields: 'message', linguiConfig }], compileTexts],
      });
      return { code: result!.code!, map: result!.map ?? null };
    },
  },
};

/** So that no parser of messages has to be in the bundle. */
const compileTexts = (): PluginObj => ({
  name: 'compile-texts',
  visitor: {},
  post: ({ ast }) =>
    traverse(ast, {
      enter: ({ node, parent }) => {
        if (!types.isObjectProperty(node) || !isText(parent)) return;
        const { key, value } = node;
        if (types.isIdentifier(key, { name: 'message' }) && types.isStringLiteral(value))
          node.value = types.valueToNode(compileMessageOrThrow(value.value));
      },
    }),
});

const isText = ({ leadingComments }: types.Node): boolean =>
  leadingComments?.some(({ value }) => /^\*?\s*i18n\s*$/.test(value)) === true;

export const messages: Plugin[] = [texts, ...(lingui({ cwd, failOnCompileError: true }) as Plugin[])];
