import { useState } from 'react';
import { call, type Input, useMutation } from '../../model/client.ts';
import { ApiError, errorText } from '../../ui/errors.ts';
import { Field, Form, TextArea, TextInput } from '../../ui/form.tsx';
import { useDraft } from '../../ui/form-draft.ts';
import { plural } from '../../ui/format.ts';
import { Card } from '../../ui/layout.tsx';
import { Notice } from '../../ui/states.tsx';
import { PlanCard, type ShownPlan } from './plan-card.tsx';
import type { CheckedSettings, Present } from './settings.ts';
import { planOf } from './settings-plan.ts';

const form = 'settings/import';

/** Nothing of it happens before the plan is confirmed. The text is a draft; values of headers and new secrets are in no storage. */
export function ImportSettings({ readPresent }: { readonly readPresent: () => Promise<Present> }) {
  const draft = useDraft(form, { text: '' }, { text: 'Settings file' });
  const { text } = draft.values;
  const [plan, setPlan] = useState<ShownPlan>();
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [hosts, setHosts] = useState<Readonly<Record<string, string>>>({});
  const show = (read: CheckedSettings, present: Present, to: typeof hosts): void => {
    const file = { ...read, subscriptions: read.subscriptions.map((one) => moved(one, to)) };
    setHosts(to);
    setPlan({ read, file, present, ...planOf(file, present) });
  };
  const check = useMutation({
    mutationFn: async () => {
      const body = parse(text) as Input<'checkSettings'>['body'];
      return Promise.all([call('checkSettings', { body }), readPresent()]);
    },
    onSuccess: ([file, present]) => {
      const found = file.subscriptions.map(({ url }) => hostOf(url));
      show(file, present, Object.fromEntries(found.map((host) => [host, hosts[host] ?? host])));
    },
  });
  const edit = (next: string): void => {
    draft.set({ text: next });
    setPlan(undefined);
    check.reset();
  };
  const problems = check.error instanceof ApiError ? check.error.details : [];
  return (
    <>
      <Card
        title="Import settings"
        description="Compares a file like the one above with what this company has, and shows a plan before anything changes. Keys and subscriptions are known by their names. What the file does not name stays."
      >
        <Form
          draft={draft}
          mutation={check}
          onSubmit={() => check.mutate()}
          fields={problems.map(({ field }) => field.split(/[.[]/)[0] ?? '')}
          submit={plan ? 'Plan again' : 'Show plan'}
          submitDisabledReason={text.trim() === '' ? 'Paste or choose a file first' : undefined}
        >
          <Field label="Choose a file" optional>
            <TextInput
              type="file"
              accept=".json,application/json"
              onChange={({ target: { files } }) => void files?.[0]?.text().then(edit)}
            />
          </Field>
          <Field
            label="Settings file"
            hint={
              <>
                JSON, as its <a href="/docs/settings.schema.json">schema</a> says. What it leaves out has its
                default.
              </>
            }
          >
            <TextArea mono rows={8} dir="ltr" spellCheck={false} value={text} onValue={edit} />
          </Field>
          {problems.length > 0 && (
            <div data-problem tabIndex={-1}>
              <Notice tone="bad" title={plural(problems.length, 'The file has # problem')}>
                <ul>
                  {problems.map(({ field, message }) => (
                    <li key={field + message}>
                      <code>{field}</code>: {message}
                    </li>
                  ))}
                </ul>
              </Notice>
            </div>
          )}
        </Form>
      </Card>
      {plan && (
        <PlanCard
          plan={plan}
          values={values}
          onValue={(name, value) => setValues({ ...values, [name]: value })}
          hosts={hosts}
          onHost={(host, to) => show(plan.read, plan.present, { ...hosts, [host]: to.trim() })}
          onStep={(at, outcome) =>
            setPlan((now) => now && { ...now, steps: now.steps.with(at, { ...now.steps[at]!, ...outcome }) })
          }
          readPresent={readPresent}
          onMoved={(present) => show(plan.read, present, hosts)}
        />
      )}
    </>
  );
}

const authority = /^(https?:\/\/)([^/?#]+)/i;
const hostOf = (url: string): string => authority.exec(url)?.[2] ?? '';

/** The subscription with the host that takes the place of its own. */
const moved = <One extends { readonly url: string }>(
  one: One,
  hosts: Readonly<Record<string, string>>,
): One => ({
  ...one,
  url: one.url.replace(authority, (_, scheme: string, host: string) => `${scheme}${hosts[host] ?? host}`),
});

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = errorText(error);
    throw new Error(`This is not JSON. ${why}`);
  }
};
