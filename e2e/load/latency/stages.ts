import type { CollectedSpan } from '@causeway/runtime/testing/collector';
import { median, percentile } from '../report/figures.ts';
import type { Table } from '../report/table.ts';
import type { Mode } from './bench.ts';
import type { Created } from './creator.ts';

/** Names of the spans that readers may not know; any other stage is `service: span`. */
const names: Readonly<Record<string, string>> = {
  'gateway: POST /api/v1/integrations/leads': 'gateway: own code',
  'gateway: count request': 'gateway: limiter',
  'gateway: crm/createLead': 'lane, there and back',
  'crm: crm/createLead': 'crm: parse the call, wait for its group',
  'crm: write group': 'crm: own code of the group',
};
const client = 'client and HTTP';

/** The time of each stage, in the order in which the stages start. */
export const stageTable = (
  system: string,
  modes: readonly Mode[],
  created: Readonly<Record<Mode, readonly Created[]>>,
  spans: readonly CollectedSpan[],
): Table => {
  const byTrace = Map.groupBy(spans, ({ traceId }) => traceId);
  const stages = new Map<string, Stage>();
  const wholeMs = { quiet: [] as number[], busy: [] as number[] };
  for (const mode of modes)
    for (const { traceId, sentMs, answeredMs, arrivedMs } of created[mode]) {
      const trace = traceId === undefined ? undefined : byTrace.get(traceId);
      const request = trace?.find(
        ({ kind, resource }) => kind === 'server' && resource['service.name'] === 'gateway',
      );
      if (!trace || !request) continue;
      wholeMs[mode].push(arrivedMs - sentMs);
      note(stages, mode, client, -1, answeredMs - sentMs - lengthOf(request));
      for (const [stage, { startMs, ownMs }] of ownTimes(trace))
        note(stages, mode, stage, startMs - request.startMs, ownMs);
    }
  return {
    title: `Where the time goes: ${system}`,
    columns: ['stage', ...modes.flatMap((mode) => [`${mode}, p50`, 'p99', 'share of sent → arrived'])],
    rows: [...stages]
      .filter(
        ([, { quiet, busy }]) =>
          quiet.length + busy.length >= (wholeMs.quiet.length + wholeMs.busy.length) / 2,
      )
      .toSorted(([, a], [, b]) => median(a.startsMs) - median(b.startsMs))
      .map(([stage, times]) => [
        stage,
        ...modes.flatMap((mode) => {
          const middle = median(times[mode]);
          return [
            middle.toFixed(2),
            percentile(times[mode], 0.99).toFixed(2),
            `${((middle / median(wholeMs[mode])) * 100).toFixed(0)} %`,
          ];
        }),
      ]),
  };
};

interface Stage {
  readonly quiet: number[];
  readonly busy: number[];
  readonly startsMs: number[];
}

const note = (stages: Map<string, Stage>, mode: Mode, stage: string, startMs: number, ms: number): void => {
  const known = stages.get(stage) ?? { quiet: [], busy: [], startsMs: [] };
  stages.set(stage, known);
  known[mode].push(ms);
  known.startsMs.push(startMs);
};

/** The stages of one trace. A span that starts asynchronous work does not contain it. */
const ownTimes = (
  trace: readonly CollectedSpan[],
): ReadonlyMap<string, { startMs: number; ownMs: number }> => {
  const children = Map.groupBy(trace, ({ parentSpanId }) => parentSpanId);
  const stages = new Map<string, { startMs: number; ownMs: number }>();
  for (const span of trace) {
    const inner = (children.get(span.spanId) ?? []).filter(({ kind }) => kind !== 'consumer');
    const innerMs = inner.reduce((sum, child) => sum + lengthOf(child), 0);
    const ownMs = Math.max(0, lengthOf(span) - innerMs);
    const own = `${span.resource['service.name']}: ${span.name}`;
    const stage = names[own] ?? own;
    const known = stages.get(stage);
    if (known) known.ownMs += ownMs;
    else stages.set(stage, { startMs: span.startMs, ownMs });
  }
  return stages;
};

const lengthOf = ({ startMs, endMs }: CollectedSpan): number => endMs - startMs;
