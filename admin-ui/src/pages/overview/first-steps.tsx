import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Check } from 'lucide-react';
import { memo, type ReactNode } from 'react';
import { Card } from '../../ui/card.tsx';
import { MinuteAgo } from '../../ui/time-ago.tsx';
import s from './first-steps.module.css';
import { firstDeliveryStepsQuery, firstStepsQuery } from './queries.ts';

interface Step {
  readonly title: string;
  readonly link: ReactNode;
  /** When it was first done. */
  readonly done: string | null;
}

/** A checklist for new companies, completed by real activity. Disappears when complete. */
export const FirstSteps = memo(function FirstSteps() {
  const own = useQuery(firstStepsQuery).data;
  const delivered = useQuery(firstDeliveryStepsQuery).data;
  if (!own || !delivered) return null;
  const steps: readonly Step[] = [
    { title: 'Create an API key', link: <Link to="/keys">API keys</Link>, done: own.keyCreatedUtc },
    {
      title: 'Make your first API call',
      link: <Link to="/developers">Quick start</Link>,
      done: own.firstCallUtc,
    },
    {
      title: 'Add a subscription',
      link: <Link to="/subscriptions/new">Add one</Link>,
      done: delivered.subscriptionCreatedUtc,
    },
    {
      title: 'Send a successful test delivery',
      link: <Link to="/test">Test delivery</Link>,
      done: delivered.testSucceededUtc,
    },
    {
      title: 'Receive your first event',
      link: <Link to="/events">Events</Link>,
      done: delivered.deliverySucceededUtc,
    },
  ];
  const doneCount = steps.filter((step) => step.done !== null).length;
  if (doneCount === steps.length) return null;
  const next = steps.findIndex((step) => step.done === null);
  return (
    <Card title="First steps" description={`${doneCount} of ${steps.length} done.`}>
      <ol className={s.steps}>
        {steps.map((step, index) => (
          <li
            key={step.title}
            data-done={step.done !== null || undefined}
            data-next={index === next || undefined}
          >
            <span className={s.mark} aria-hidden="true">
              {step.done === null ? index + 1 : <Check size={14} />}
            </span>
            <div>
              <p className={s.title}>
                {step.title}
                {step.done !== null && <span className="visually-hidden"> (done)</span>}
              </p>
              <p className={s.note}>{step.done === null ? step.link : <MinuteAgo time={step.done} />}</p>
            </div>
          </li>
        ))}
      </ol>
    </Card>
  );
});
