import { Toast as Base } from '@base-ui/react/toast';
import { CircleAlert, CircleCheck, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { errorText } from '../errors.ts';
import { IconButton } from './button.tsx';
import s from './toast.module.css';

const manager = Base.createToastManager();

/** Confirms an action. */
export const toast = (title: string): void => {
  manager.add({ title, type: 'good', timeout: 5000 });
};

/** Shows an error that no form or dialog shows. */
export const toastError = (error: unknown): void => {
  manager.add({ title: errorText(error), type: 'bad', priority: 'high', timeout: 10_000 });
};

export function ToastProvider({ children }: { readonly children: ReactNode }) {
  return (
    <Base.Provider toastManager={manager} limit={3}>
      {children}
      <Base.Portal>
        <Base.Viewport className={s.viewport}>
          <Toasts />
        </Base.Viewport>
      </Base.Portal>
    </Base.Provider>
  );
}

function Toasts() {
  const { toasts } = Base.useToastManager();
  return toasts.map((one) => (
    <Base.Root key={one.id} toast={one} className={s.toast}>
      <Base.Content className={s.content}>
        {one.type === 'bad' ? (
          <CircleAlert className={s.bad} size={16} />
        ) : (
          <CircleCheck className={s.good} size={16} />
        )}
        <Base.Title render={<p />} className={s.title} />
        <Base.Close render={<IconButton label="Dismiss" size="s" icon={<X />} />} />
      </Base.Content>
    </Base.Root>
  ));
}
