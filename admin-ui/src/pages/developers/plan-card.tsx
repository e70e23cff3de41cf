import { useBlocker } from '@tanstack/react-router';
import { useState } from 'react';
import { Changes } from '../../model/activity.tsx';
import { call, useMutation } from '../../model/client.ts';
import { useRefusal } from '../../model/session.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog, SecretDialog } from '../../ui/dialog.tsx';
import { ApiError, errorText } from '../../ui/errors.ts';
import { Checkbox, Field, PasswordInput } from '../../ui/form.tsx';
import { plural } from '../../ui/format.ts';
import { Card, Quiet, Row, Stack } from '../../ui/layout.tsx';
import { save } from '../../ui/save.ts';
import { Empty, Notice } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.ts';
import { Badge, Cut, type Tone } from '../../ui/values.tsx';
import { carryOut } from './apply-settings.ts';
import type { CheckedSettings, Present } from './settings.ts';
import { planOf, type Step } from './settings-plan.ts';

export interface ShownPlan extends Omit<ReturnType<typeof planOf>, 'steps'> {
  readonly file: CheckedSettings;
  readonly present: Present;
  readonly prune: boolean;
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
  readonly onPrune: (prune: boolean) => void;
  readonly onStep: (at: number, outcome: Pick<ShownStep, 'outcome' | 'secret'>) => void;
  readonly onMoved: (present: Present) => void;
  readonly readPresent: () => Promise<Present>;
}

/** Applies the plan step by step. What was applied before a fault is not in the next plan of the file. */
export function PlanCard({ plan, values, onValue, onPrune, onStep, onMoved, readPresent }: PlanCardProps) {
  const { file, present, prune, steps, same, unnamed } = plan;
  const [asking, setAsking] = useState(false);
  const [secrets, setSecrets] = useState('');
  const refusal = useRefusal('developer');
  const apply = useMutation({
    mutationFn: async () => {
      const now = await readPresent();
      if (JSON.stringify(planOf(file, now, prune)) !== JSON.stringify(planOf(file, present, prune))) {
        onMoved(now);
        throw new Error(
          'Somebody changed the settings meanwhile, so nothing was done. This is the new plan.',
        );
      }
      const count = (action: Step['action']) => steps.filter((step) => step.action === action).length;
      const body = { created: count('new'), changed: count('changed'), deleted: count('deleted') };
      await call('beginImport', { body });
      const shown: string[] = [];
      for (const [at, step] of steps.entries()) {
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
  });
  useBlocker({
    shouldBlockFn: () => {
      toast('Wait until the plan is applied');
      return true;
    },
    enableBeforeUnload: true,
    disabled: !apply.isPending,
  });
  const counts = summaryOf(steps, same);
  const isBegun = steps.some(({ outcome }) => outcome !== undefined);
  const done = steps.filter(({ outcome }) => outcome === 'done').length;
  const total = steps.length;
  const isWhole = done === total;
  const missing = steps.flatMap((step) => step.headers.map((name) => ({ step, name, owner: step.name })));
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
        {!isBegun && (unnamed > 0 || prune) && (
          <Checkbox
            label="Delete what the file does not name"
            description={plural(
              unnamed,
              'Otherwise # subscription or key stays. Keys are revoked: their tools stop working.',
              'Otherwise # subscriptions and keys stay. Keys are revoked: their tools stop working.',
            )}
            checked={prune}
            onChange={({ target }) => onPrune(target.checked)}
          />
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
          columns={columns}
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
        danger={steps.some(({ action }) => action === 'deleted')}
        typed={steps.some(({ action }) => action === 'deleted') ? 'delete' : undefined}
        mutation={apply as never}
        onSubmit={() => {
          setAsking(false);
          apply.mutate();
        }}
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

/** The next steps would fail as well: nobody answers, too many calls were made, or the member did not prove who they are. */
const endsPlan = (error: unknown): boolean =>
  !(error instanceof ApiError) ||
  [0, 401, 429].includes(error.status) ||
  error.status >= 500 ||
  error.extra.reason === 'proof_required';

const headerOf = (step: Step, name: string): string => `${step.id} ${name}`;

const summaryOf = (steps: readonly Step[], same: number): string => {
  const count = (wanted: Step['action']): number => steps.filter(({ action }) => action === wanted).length;
  const [made, changed, deleted] = [count('new'), count('changed'), count('deleted')];
  return `${made} new, ${changed} changed, ${deleted} deleted, ${same} as they are`;
};

const actions: Readonly<Record<Step['action'], { readonly tone: Tone; readonly label: string }>> = {
  new: { tone: 'good', label: 'New' },
  changed: { tone: 'info', label: 'Changed' },
  deleted: { tone: 'bad', label: 'Deleted' },
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
      if (outcome === undefined) return null;
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
