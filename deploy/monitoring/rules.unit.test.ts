import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { knownSeries } from './testing/metrics.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

const read = (file: string): string => readFileSync(join(import.meta.dirname, file), 'utf8');
const { groups } = parse(read('rules.yaml')) as { groups: { name: string; rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const { tests } = parse(read('rules.test.yaml')) as {
  tests: { name: string; promql_expr_test: { exp_samples: unknown[] }[] }[];
};
const runbook = read('runbook.md');
const sections = [...runbook.matchAll(/^## (\w+)$/gm)].map((match) => match[1]!);
const known = await knownSeries();

const strangeLabels = (expression: string): string[] => {
  const own = new Set(seriesOf(expression).flatMap((name) => known.get(name) ?? []));
  return labelsOf(expression).filter((label) => !own.has(label));
};

const conditional = rules.filter(({ alert }) => alert !== 'Watchdog');
// `exporters.nightly.integration.test.ts` asks the exporters.
const ofExporters = groups.filter(({ name }) => /servers|vitess/.test(name)).flatMap((group) => group.rules);

describe.each(conditional)('$alert', ({ alert, expr, labels, annotations }) => {
  test('uses series that the processes export', () => {
    if (ofExporters.some((rule) => rule.alert === alert)) return;
    const asked = seriesOf(expr);
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter((name) => !known.has(name))).toEqual([]);
    expect(strangeLabels(expr)).toEqual([]);
  });

  test('has a section of the runbook, and says whether it pages a person', () => {
    expect(annotations.runbook_url).toBe(`https://runbooks.example.com/causeway#${alert.toLowerCase()}`);
    expect(sections).toContain(alert);
    expect(['page', 'ticket']).toContain(labels.severity);
  });

  test('has a test in which it fires, and one in which it does not', () => {
    const tried = tests.filter(({ name }) => name.startsWith(`${alert}: `));
    const raised = tried.map(({ promql_expr_test: [first] }) => (first?.exp_samples.length ?? 0) > 0);
    expect(new Set(raised)).toEqual(new Set([true, false]));
  });
});

test('every section of the runbook has its alert', () => {
  expect(sections).toEqual(rules.map(({ alert }) => alert));
});

test('links within the runbook lead to its sections', () => {
  const targets = [...runbook.matchAll(/\]\(#([\w-]+)\)/g)].map((match) => match[1]!);
  expect(targets.filter((target) => !sections.some((name) => name.toLowerCase() === target))).toEqual([]);
});

describe('the dashboard', () => {
  interface Panel {
    readonly id: number;
    readonly title: string;
    readonly type: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
    readonly targets?: readonly { readonly expr: string }[];
  }
  const { panels } = JSON.parse(read('dashboards/causeway.json')) as { panels: Panel[] };
  const charts = panels.filter(({ type }) => type !== 'row');

  test.each(charts)(
    '$title shows series that the processes export, in a unit',
    ({ targets = [], fieldConfig }) => {
      // Grafana fills its variable in.
      const expressions = targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m'));
      const asked = expressions.flatMap(seriesOf);
      expect(asked.length).toBeGreaterThan(0);
      expect(asked.filter((name) => !known.has(name))).toEqual([]);
      expect(expressions.flatMap(strangeLabels)).toEqual([]);
      expect(fieldConfig?.defaults.unit).toBeTruthy();
    },
  );

  test('has no overlapping panels, and none beyond the edge', () => {
    const taken = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    );
    expect(new Set(taken).size).toBe(taken.length);
    expect(Math.max(...panels.map(({ gridPos }) => gridPos.x + gridPos.w))).toBe(24);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });
});

/** @throws if it is not valid PromQL */
const seriesOf = (expression: string): readonly string[] =>
  partsOf(expression).flatMap(({ name, parent, text }) =>
    name === 'Identifier' && parent === 'VectorSelector' ? [text] : [],
  );

/** @throws if it is not valid PromQL */
const labelsOf = (expression: string): readonly string[] => [
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
