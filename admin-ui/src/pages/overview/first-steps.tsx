import { skipToken, useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { memo, type ReactNode, useState } from 'react';
import { CreateKey } from '../../model/create-key.tsx';
import { firstDeliveryStepsQuery, firstStepsQuery, subscriptionsQuery } from '../../model/queries.ts';
import { queryClient } from '../../model/query-client.ts';
import { type Scope, sampleCall } from '../../model/scopes.ts';
import { useBaseUrl, useRefusal, useSession } from '../../model/session.ts';
import { nameOf } from '../../model/subscriptions.ts';
import { Aqueduct } from '../../ui/aqueduct.tsx';
import { Button, IconButton, LinkButton } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { useDialog } from '../../ui/dialog-button.tsx';
import { kept } from '../../ui/kept.ts';
import { Card } from '../../ui/layout.tsx';
import { Step, Steps } from '../../ui/steps.tsx';
import { MinuteAgo } from '../../ui/values.tsx';
import s from './first-steps.module.css';

/** The next step is open; what it waits for is seen within two seconds. Nothing once all are done. */
export const FirstSteps = memo(function FirstSteps() {
  const { company } = useSession();
  const choice = kept(`causeway.first-steps.${company.id}`);
  const [isHidden, setHidden] = useState(() => choice.read() !== null);
  if (isHidden) return null;
  const hide = (): void => {
    choice.write('hidden');
    setHidden(true);
  };
  return <Checklist onHide={hide} />;
});

function Checklist({ onHide }: { readonly onHide: () => void }) {
  const own = useQuery({
    ...firstStepsQuery,
    refetchInterval: ({ state: { data, error } }) =>
      data?.keyCreatedUtc && !data.firstCallUtc ? (error ? errorMs : 500) : false,
  }).data;
  const delivered = useQuery({
    ...firstDeliveryStepsQuery,
    refetchInterval: ({ state: { data, error } }) =>
      data?.subscriptionCreatedUtc && !data.deliverySucceededUtc ? (error ? errorMs : 1000) : false,
  }).data;
  const baseUrl = useBaseUrl();
  const { dialog, open, close } = useDialog();
  const refusal = useRefusal('developer');
  const newest = useQuery(subscriptionsQuery).data?.subscriptions[0];
  const [key, keepKey] = useFirstKey();
  if (!own || !delivered) return null;
  const command = (scope: Scope) => (
    <CodeBlock
      label="command"
      language="text"
      wrap
      code={sampleCall(baseUrl, key ?? 'YOUR_API_KEY', [scope])}
    />
  );
  const steps: readonly FirstStep[] = [
    {
      title: 'Create an API key',
      done: own.keyCreatedUtc,
      body: (
        <div>
          <Button variant="primary" disabledReason={refusal} onClick={() => open('key')}>
            Create API key
          </Button>
        </div>
      ),
    },
    {
      title: 'Make your first API call',
      done: own.firstCallUtc,
      body: (
        <>
          {command('integrations:read')}
          <Waiting for="your first call" />
          <p>
            Every operation is in the <a href="/docs">reference</a>.
          </p>
        </>
      ),
    },
    {
      title: 'Add a subscription',
      done: delivered.subscriptionCreatedUtc,
      body: (
        <div>
          <LinkButton variant="primary" to="/subscriptions/new">
            Add subscription
          </LinkButton>
        </div>
      ),
    },
    {
      title: 'Receive your first delivery',
      done: delivered.deliverySucceededUtc ?? delivered.testSucceededUtc,
      body: (
        <>
          {newest && (
            <div>
              <LinkButton
                variant="primary"
                to="/subscriptions/$id"
                params={{ id: newest.id }}
                search={{ dialog: 'test' }}
              >
                Test “{nameOf(newest)}”
              </LinkButton>
            </div>
          )}
          <p>Or create a lead, and receive its event:</p>
          {command('integrations:write')}
          <Waiting for="a receiver that answers 2xx" />
          <p>
            A receiver in your language is in <a href="/docs/webhooks">Receive and verify a webhook</a>.
          </p>
        </>
      ),
    },
  ];
  const doneCount = steps.filter(({ done }) => done !== null).length;
  const count = steps.length;
  const next = steps.findIndex(({ done }) => done === null);
  return (
    <>
      {doneCount < count && (
        <Card
          title="First steps"
          description={`${doneCount} of ${count} done.`}
          actions={<IconButton label="Hide the first steps" icon={<X />} onClick={onHide} />}
        >
          <div className={s.aqueduct}>
            <Aqueduct built={steps.map(({ done }) => done !== null)} />
          </div>
          <Steps>
            {steps.map(({ title, body, done }, index) => (
              <Step
                key={title}
                number={index + 1}
                done={done !== null}
                next={index === next}
                title={
                  <>
                    {title}
                    {done !== null && (
                      <span className={s.when}>
                        {' '}
                        <MinuteAgo time={done} />
                      </span>
                    )}
                  </>
                }
              >
                {index === next && body}
              </Step>
            ))}
          </Steps>
        </Card>
      )}
      <CreateKey
        open={dialog === 'key' && refusal === undefined}
        preset="sync"
        onClose={close}
        onMade={keepKey}
      />
    </>
  );
}

const errorMs = 5000;

/** Of the key that was made in these steps: in memory until the page is loaded again or the session ends. */
const useFirstKey = () => {
  const queryKey = ['first-key'];
  const { data } = useQuery<string>({ queryKey, queryFn: skipToken, gcTime: Number.POSITIVE_INFINITY });
  return [data, (value: string) => void queryClient.setQueryData(queryKey, value)] as const;
};

interface FirstStep {
  readonly title: string;
  readonly done: string | null;
  readonly body: ReactNode;
}

const Waiting = ({ for: what }: { readonly for: string }) => (
  <p className={s.waiting} role="status">
    <span className={s.pulse} data-mark />
    Waiting for {what}…
  </p>
);
