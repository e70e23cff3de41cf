import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { memo, type ReactNode, useState } from 'react';
import { firstDeliveryStepsQuery, firstStepsQuery, subscriptionsQuery } from '../../model/queries.ts';
import { sampleCall } from '../../model/scopes.ts';
import { useBaseUrl, useSession } from '../../model/session.ts';
import { Aqueduct } from '../../ui/aqueduct.tsx';
import { IconButton, LinkButton } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { Card } from '../../ui/layout.tsx';
import { Step, Steps } from '../../ui/steps.tsx';
import { MinuteAgo } from '../../ui/values.tsx';
import s from './first-steps.module.css';

/** The next step is open; what it waits for is seen within seconds. Nothing once all are done. */
export const FirstSteps = memo(function FirstSteps() {
  const own = useQuery(firstStepsQuery).data;
  const delivered = useQuery(firstDeliveryStepsQuery).data;
  const baseUrl = useBaseUrl();
  const { company } = useSession();
  const [isHidden, setHidden] = useState(() => readKept(company.id));
  if (!own || !delivered || isHidden) return null;
  const steps: readonly FirstStep[] = [
    {
      title: 'Create an API key',
      done: own.keyCreatedUtc,
      body: (
        <div>
          <LinkButton variant="primary" to="/keys" search={{ dialog: 'create' }}>
            Create API key
          </LinkButton>
        </div>
      ),
    },
    {
      title: 'Make your first API call',
      done: own.firstCallUtc,
      body: (
        <>
          <Command code={sampleCall(baseUrl, 'YOUR_API_KEY', ['integrations:read'])} />
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
      title: 'Send a successful test delivery',
      done: delivered.testSucceededUtc,
      body: (
        <>
          <TestNewest />
          <p>
            A receiver in your language is in <a href="/docs/webhooks">Receive and verify a webhook</a>.
          </p>
          <Waiting for="a receiver that answers 2xx" />
        </>
      ),
    },
    {
      title: 'Receive your first event',
      done: delivered.deliverySucceededUtc,
      body: (
        <>
          <Command code={sampleCall(baseUrl, 'YOUR_API_KEY', ['integrations:write'])} />
          <Waiting for="your first event" />
          <p>
            What happens in the CRM is listed in <Link to="/events">Events</Link>.
          </p>
        </>
      ),
    },
  ];
  const doneCount = steps.filter(({ done }) => done !== null).length;
  if (doneCount === steps.length) return null;
  const count = steps.length;
  const next = steps.findIndex(({ done }) => done === null);
  return (
    <Card
      title="First steps"
      description={`${doneCount} of ${count} done.`}
      actions={
        <IconButton
          label="Hide the first steps"
          icon={<X />}
          onClick={() => {
            keepHidden(company.id);
            setHidden(true);
          }}
        />
      }
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
  );
});

function TestNewest() {
  const newest = useQuery(subscriptionsQuery).data?.subscriptions[0];
  if (!newest) return null;
  return (
    <div>
      <LinkButton
        variant="primary"
        to="/subscriptions/$id"
        params={{ id: newest.id }}
        search={{ dialog: 'test' }}
      >
        Send test delivery
      </LinkButton>
    </div>
  );
}

const keptIn = (companyId: number): string => `causeway.first-steps.${companyId}`;
const readKept = (companyId: number): boolean => {
  try {
    return localStorage.getItem(keptIn(companyId)) !== null;
  } catch {
    return false;
  }
};
const keepHidden = (companyId: number): void => {
  try {
    localStorage.setItem(keptIn(companyId), 'hidden');
  } catch {
    // Without storage, they are hidden until the page is loaded again.
  }
};

interface FirstStep {
  readonly title: string;
  readonly done: string | null;
  readonly body: ReactNode;
}

const Command = ({ code }: { readonly code: string }) => (
  <CodeBlock label="command" language="code" wrap code={code} />
);

const Waiting = ({ for: what }: { readonly for: string }) => (
  <p className={s.waiting} role="status">
    <span className={s.pulse} data-mark />
    Waiting for {what}…
  </p>
);
