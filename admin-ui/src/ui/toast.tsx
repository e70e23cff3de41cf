import { Toast as Base } from '@base-ui/react/toast';
import { CircleAlert, CircleCheck, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { errorText } from '../api/errors.ts';
import { IconButton } from './button.tsx';
import s from './toast.module.css';

const manager = Base.createToastManager();

/** Says that something was done. */
export const toast = (title: string, action?: { readonly label: string; readonly run: () => void }): void => {
  manager.add({
    title,
    type: 'good',
    timeout: 5000,
    ...(action ? { actionProps: { children: action.label, onClick: action.run } } : {}),
  });
};

/** Says that something failed, where no form or dialog is there to say it. */
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
        <Base.Action className={s.action} />
        <Base.Close render={<IconButton label="Dismiss" size="s" icon={<X />} />} />
      </Base.Content>
    </Base.Root>
  ));
}
