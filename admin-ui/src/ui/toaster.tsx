import { Toast as Base } from '@base-ui/react/toast';
import { CircleAlert, CircleCheck, X } from 'lucide-react';
import { useEffect } from 'react';
import { IconButton } from './button.tsx';
import s from './toast.module.css';
import { onToast } from './toast.ts';

const manager = Base.createToastManager();

/** One of them stands on a page. Its effect runs after that of the provider, which listens then. */
export function Toaster() {
  useEffect(() => {
    onToast((one) => void manager.add(one));
    return () => onToast(undefined);
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
        <Base.Close aria-hidden={false} render={<IconButton label="Dismiss" size="s" icon={<X />} />} />
      </Base.Content>
    </Base.Root>
  ));
}
