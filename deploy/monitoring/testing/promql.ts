import { parser } from '@prometheus-io/lezer-promql';

/** @throws if it is not valid PromQL */
export const seriesOf = (expression: string): readonly string[] =>
  partsOf(expression).flatMap(({ name, parent, text }) =>
    name === 'Identifier' && parent === 'VectorSelector' ? [text] : [],
  );

/** @throws if it is not valid PromQL */
export const labelsOf = (expression: string): readonly string[] => [
  ...new Set(partsOf(expression).flatMap(({ name, text }) => (name === 'LabelName' ? [text] : []))),
];

const partsOf = (expression: string) => {
  const parts: { readonly name: string; readonly parent: string; readonly text: string }[] = [];
  parser.parse(expression).iterate({
    enter: ({ type, node, from, to }) => {
      if (type.isError) throw new Error(`no PromQL from character ${from} on: ${expression}`);
      parts.push({ name: type.name, parent: node.parent?.name ?? '', text: expression.slice(from, to) });
    },
  });
  return parts;
};
