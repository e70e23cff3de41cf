import { Tabs as Base } from '@base-ui/react/tabs';
import type { ReactNode } from 'react';
import { useShownFirst } from './after-paint.ts';
import s from './tabs.module.css';

interface TabsProps<Id extends string> {
  readonly label: string;
  readonly tabs: readonly { readonly id: Id; readonly label: ReactNode }[];
  readonly value: Id;
  readonly onChange: (id: Id) => void;
  /** The content of the chosen tab. */
  readonly children: ReactNode;
}

export function Tabs<Id extends string>({ label, tabs, value, onChange, children }: TabsProps<Id>) {
  const [shown, choose] = useShownFirst(value, onChange);
  return (
    <Base.Root value={shown} onValueChange={(next) => choose(next as Id)}>
      <Base.List className={s.list} aria-label={label}>
        {tabs.map((tab) => (
          <Base.Tab key={tab.id} value={tab.id} className={s.tab}>
            {tab.label}
          </Base.Tab>
        ))}
      </Base.List>
      <Base.Panel value={shown} className={s.panel}>
        {children}
      </Base.Panel>
    </Base.Root>
  );
}
