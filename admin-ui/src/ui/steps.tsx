import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import { Stack } from './layout.tsx';
import s from './steps.module.css';

export const Steps = ({ children }: { readonly children: ReactNode }) => (
  <ol className={s.steps}>{children}</ol>
);

interface StepProps {
  readonly number: number;
  readonly title: ReactNode;
  readonly done?: boolean;
  readonly next?: boolean;
  readonly children?: ReactNode;
}

export function Step({ number, title, done, next, children }: StepProps) {
  return (
    <li data-done={done || undefined} data-next={next || undefined}>
      <span className={s.mark} aria-hidden="true">
        {done ? <Check size={14} /> : number}
      </span>
      <Stack gap="s">
        <h3 className={s.title}>
          {title}
          {done && <span className="visually-hidden"> (done)</span>}
        </h3>
        {children}
      </Stack>
    </li>
  );
}
