import { useBlocker } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { Changes } from '../../model/activity.tsx';
import { call, type Input, useMutation } from '../../model/client.ts';
import { queryClient } from '../../model/query-client.ts';
import { useRefusal } from '../../model/session.ts';
import { Button } from '../../ui/button.tsx';
import { save } from '../../ui/csv.ts';
import { ConfirmDialog, SecretDialog } from '../../ui/dialog.tsx';
import { ApiError, errorText } from '../../ui/errors.ts';
import { Checkbox, Field, PasswordInput, TextInput } from '../../ui/form.tsx';
import { plural } from '../../ui/format.ts';
import { Card, Grid, Quiet, Row, Stack } from '../../ui/layout.tsx';
import { Empty, Notice } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.ts';
import { Badge, Cut, type Tone } from '../../ui/values.tsx';
import type { CheckedSettings, Present } from './settings.ts';
import { planOf, type Step } from './settings-plan.ts';

export interface ShownPlan extends Omit<ReturnType<typeof planOf>, 'steps'> {
  /** As the server has read it; `file` has other hosts. */
  readonly read: CheckedSettings;
  readonly file: CheckedSettings;
  readonly present: Present;
  readonly steps: readonly ShownStep[];
}

export interface ShownStep extends Step {
  readonly outcome?: 'running' | 'done' | { readonly error: string };
  readonly secret?: string | undefined;
}

interface PlanCardProps {
  readonly plan: ShownPlan;
  /** Of headers, by step and name. */
  readonly values: Readonly<Record<string, string>>;
  readonly onValue: (name: string, value: string) => void;
  /** The hosts of the file's subscriptions, and what takes their place. */
  readonly hosts: Readonly<Record<string, string>>;
  readonly onHost: (host: string, to: string) => void;
  readonly onStep: (at: number, outcome: Pick<ShownStep, 'outcome' | 'secret'>) => void;
  readonly onMoved: (present: Present) => void;
  readonly readPresent: () => Promise<Present>;
}

/** Applies the plan step by step. What was applied before a fault is not in the next plan of the file. */
export function PlanCard(props: PlanCardProps) {
  const { plan, values, onValue, hosts, onHost, onStep, onMoved, readPresent } = props;
  const { file, present, steps, same } = plan;
  const [left, setLeft] = useState<readonly string[]>([]);
  const chosen = steps.filter(({ id }) => !left.includes(id));
  const [asking, setAsking] = useState(false);
  const [secrets, setSecrets] = useState('');
  const refusal = useRefusal('developer');
  const isBegun = steps.some(({ outcome }) => outcome !== undefined);
  const shownColumns = useMemo(() => {
    const choose: Column<ShownStep> = {
      header: 'Apply',
      cell: ({ id, name }) => (
        <Checkbox
          label={<span className="visually-hidden">Apply {name}</span>}
          disabled={isBegun}
          checked={!left.includes(id)}
          onChange={({ target }) =>
            setLeft(target.checked ? left.filter((one) => one !== id) : [...left, id])
          }
        />
      ),
    };
    return [choose, ...columns];
  }, [left, isBegun]);
  const apply = useMutation({
    mutationFn: async () => {
      const now = await readPresent();
      if (JSON.stringify(planOf(file, now)) !== JSON.stringify(planOf(file, present))) {
        onMoved(now);
        throw new Error(
          'Somebody changed the settings meanwhile, so nothing was done. This is the new plan.',
        );
      }
      const made = chosen.filter(({ action }) => action === 'new').length;
      await call('beginImport', { body: { created: made, changed: chosen.length - made } });
      const shown: string[] = [];
      for (const [at, step] of steps.entries()) {
        if (!chosen.includes(step)) continue;
        onStep(at, { outcome: 'running' });
        try {
          const secret = await carryOut(step, (name) => values[headerOf(step, name)]);
          if (secret !== undefined) shown.push(`${step.name}: ${secret}`);
          onStep(at, { outcome: 'done' });
        } catch (error) {
          onStep(at, { outcome: { error: errorText(error) } });
          if (endsPlan(error)) break;
        }
      }
      setSecrets(shown.join('\n'));
    },
    // After many changes, the page would show the last ones a second later.
    onSettled: () => queryClient.invalidateQueries(),
  });
  useBlocker({
    shouldBlockFn: () => {
      toast('Wait until the plan is applied');
      return true;
    },
    enableBeforeUnload: true,
    disabled: !apply.isPending,
  });
  const counts = summaryOf(chosen, same);
  const done = steps.filter(({ outcome }) => outcome === 'done').length;
  const total = chosen.length;
  const isWhole = done === total;
  const off = chosen.filter(({ action, body }) => action === 'new' && body.enabled === false).length;
  const missing = chosen.flatMap((step) => step.headers.map((name) => ({ step, name, owner: step.name })));
  return (
    <Card
      title="Plan"
      description={<span role="status">{counts}</span>}
      actions={
        total > 0 &&
        !isBegun && (
          <Button variant="primary" disabledReason={refusal} onClick={() => setAsking(true)}>
            Apply plan…
          </Button>
        )
      }
    >
      <Stack>
        {apply.error && <Notice tone="bad">{errorText(apply.error)}</Notice>}
        {isBegun && (
          <Notice
            tone={apply.isPending ? 'info' : isWhole ? 'good' : 'bad'}
            title={`${done} of ${total} done`}
          >
            {!apply.isPending && !isWhole && '“Plan again” shows what is left. Nothing is done twice.'}
          </Notice>
        )}
        {!isBegun && off > 0 && (
          <Notice tone="info">
            {plural(
              off,
              '# new subscription arrives switched off',
              '# new subscriptions arrive switched off',
            )}
            , as in the file. Enable them when their receivers are ready.
          </Notice>
        )}
        {!isBegun && (
          <Grid min={16}>
            {Object.entries(hosts).map(([host, to]) => (
              <Field key={host} label={`Host instead of ${host}`}>
                <TextInput mono spellCheck={false} value={to} onValue={(value) => onHost(host, value)} />
              </Field>
            ))}
          </Grid>
        )}
        {!isBegun &&
          missing.map(({ step, name, owner }) => (
            <Field
              key={headerOf(step, name)}
              label={`Value of ${name} for ${owner}`}
              optional
              hint="The file has no values of headers. Without a value, the header is left out."
            >
              <PasswordInput
                autoComplete="off"
                value={values[headerOf(step, name)] ?? ''}
                onValue={(value) => onValue(headerOf(step, name), value)}
              />
            </Field>
          ))}
        <Table
          label="Plan"
          columns={shownColumns}
          rows={steps}
          rowKey={({ id }) => id}
          emptyState={<Empty title="Nothing to change">The company has what the file says.</Empty>}
        />
      </Stack>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title="Apply this plan?"
        confirm="Apply plan"
        act={async () => apply.mutate()}
      >
        <p>{counts}</p>
        <p>New keys and signing secrets are shown once, when all is done.</p>
      </ConfirmDialog>
      {secrets !== '' && (
        <SecretDialog
          title="New secrets"
          name="list of secrets"
          value={secrets}
          onClose={() => setSecrets('')}
        >
          {(onCopied) => (
            <Row>
              <Button
                onClick={() => {
                  save('causeway-secrets.txt', `${secrets}\n`);
                  onCopied();
                }}
              >
                Download as a file
              </Button>
            </Row>
          )}
        </SecretDialog>
      )}
    </Card>
  );
}

/** @returns the new secret, if the step makes one. @param headerValue a header without a value is left out */
const carryOut = async (
  { kind, action, objectId, body, headers, removedHeaders }: Step,
  headerValue: (header: string) => string | undefined,
): Promise<string | undefined> => {
  const params = { id: objectId };
  if (kind === 'key') {
    if (action === 'new') return (await call('createApiKey', { body } as Input<'createApiKey'>)).value;
    await call('updateApiKey', { params, body } as Input<'updateApiKey'>);
    return undefined;
  }
  const values = [
    ...removedHeaders.map((name) => [name, null] as const),
    ...headers.flatMap((name) => (headerValue(name) ? [[name, headerValue(name)!] as const] : [])),
  ];
  const all = { ...body, ...(values.length > 0 && { headers: Object.fromEntries(values) }) };
  if (action === 'new') {
    const input = { body: all } as Input<'createPortalSubscription'>;
    return (await call('createPortalSubscription', input)).signingSecret;
  }
  if (Object.keys(all).length > 1)
    await call('updatePortalSubscription', { params, body: all } as Input<'updatePortalSubscription'>);
  return undefined;
};

/** The next steps would fail as well: nobody answers, too many calls were made, or the member did not prove who they are. */
const endsPlan = (error: unknown): boolean =>
  !(error instanceof ApiError) ||
  [0, 401, 429].includes(error.status) ||
  error.status >= 500 ||
  error.extra.reason === 'proof_required';

const headerOf = (step: Step, name: string): string => `${step.id} ${name}`;

const summaryOf = (steps: readonly Step[], same: number): string => {
  const count = (wanted: Step['action']): number => steps.filter(({ action }) => action === wanted).length;
  return `${count('new')} new, ${count('changed')} changed, ${same} as they are`;
};

const actions: Readonly<Record<Step['action'], { readonly tone: Tone; readonly label: string }>> = {
  new: { tone: 'good', label: 'New' },
  changed: { tone: 'info', label: 'Changed' },
};

const columns: readonly Column<ShownStep>[] = [
  {
    header: 'Object',
    bounded: true,
    cell: ({ kind, name }) => (
      <Stack gap="xs">
        <Cut text={name} />
        <Quiet small>{kind === 'key' ? 'API key' : 'Subscription'}</Quiet>
      </Stack>
    ),
  },
  {
    header: 'Change',
    cell: ({ action }) => <Badge tone={actions[action].tone}>{actions[action].label}</Badge>,
  },
  {
    header: 'Result',
    cell: ({ outcome }) => {
      if (outcome === undefined) return '';
      if (outcome === 'running') return <Badge tone="info">Applying…</Badge>;
      if (outcome === 'done') return <Badge tone="good">Done</Badge>;
      return (
        <Stack gap="xs">
          <Badge tone="bad">Failed</Badge>
          <span>{outcome.error}</span>
        </Stack>
      );
    },
  },
  {
    header: 'Fields',
    grow: true,
    cell: ({ action, before, after }) => (
      <Changes before={before} after={after} open={action === 'changed'} />
    ),
  },
];
