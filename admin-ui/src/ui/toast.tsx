import { Toast as Base } from '@base-ui/react/toast';
import { t } from '@lingui/core/macro';
import { CircleAlert, CircleCheck, X } from 'lucide-react';
import { useEffect } from 'react';
import { errorText } from '../errors.ts';
import { IconButton } from './button.tsx';
import s from './toast.module.css';

type NewToast = Parameters<typeof manager.add>[0];

const manager = Base.createToastManager();
/** Toasts added while the code of the toaster loads: the manager drops what nobody shows. */
const waiting: NewToast[] = [];
let shown = false;

const add = (one: NewToast): void => {
  if (shown) manager.add(one);
  else waiting.push(one);
};

export const toast = (title: string): void => add({ title, type: 'good', timeout: 5000 });

export const toastError = (error: unknown): void =>
  add({ title: errorText(error), type: 'bad', priority: 'high', timeout: 10_000 });

/** One of them stands on a page. Its effect runs after that of the provider, which listens then. */
export function Toaster() {
  useEffect(() => {
    shown = true;
    for (const one of waiting.splice(0)) manager.add(one);
    return () => {
      shown = false;
    };
  }, []);
  return (
    <Base.Provider toastManager={manager} limit={3}>
      <Base.Portal>
        <Base.Viewport className={s.viewport}>
          <Toasts />
        </Base.Viewport>
      </Base.Portal>
    </Base.Provider>
  );
}

/** By default, a toast is a dialog in the accessibility tree. */
const asStatus = { role: 'status', 'aria-modal': undefined };

function Toasts() {
  const { toasts } = Base.useToastManager();
  return toasts.map((one) => (
    <Base.Root key={one.id} toast={one} className={s.toast} {...asStatus}>
      <Base.Content className={s.content}>
        {one.type === 'bad' ? (
          <CircleAlert className={s.bad} size={16} />
        ) : (
          <CircleCheck className={s.good} size={16} />
        )}
        <Base.Title render={<p />} className={s.title} />
        {/* Base UI hides it until the pointer is on the toast, although Tab reaches it. */}
        <Base.Close aria-hidden={false} render={<IconButton label={t`Dismiss`} size="s" icon={<X />} />} />
      </Base.Content>
    </Base.Root>
  ));
}
