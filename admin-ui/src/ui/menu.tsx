import { Ellipsis } from 'lucide-react';
import { cloneElement, type ReactElement, type ReactNode, Suspense, useState } from 'react';
import { IconButton } from './button.tsx';
import { later } from './later.ts';

const MenuPopup = later(() => import('./menu-popup.tsx'), 'MenuPopup');

interface MenuAction {
  /** Where labels repeat. */
  readonly id?: string;
  readonly label: string;
  readonly detail?: ReactNode;
  readonly icon?: ReactNode;
  readonly danger?: boolean;
  readonly disabledReason?: string | undefined;
  readonly onSelect: () => void;
}

export interface MenuProps {
  readonly trigger: ReactElement<{ onClick?: () => void }>;
  readonly heading?: ReactNode;
  readonly actions: readonly (MenuAction | 'separator')[];
  readonly onClose?: () => void;
}

/** Its trigger is there with the page. If it is pressed before the code of the menu is loaded, the menu opens then. */
export function Menu(props: MenuProps) {
  const [pressed, setPressed] = useState(false);
  return (
    <Suspense fallback={cloneElement(props.trigger, { onClick: () => setPressed(true) })}>
      <MenuPopup {...props} defaultOpen={pressed} />
    </Suspense>
  );
}

export function RowMenu({ label, actions }: Pick<MenuProps, 'actions'> & { readonly label: string }) {
  const trigger = <IconButton label={`Actions for ${label}`} size="s" icon={<Ellipsis />} />;
  return <Menu trigger={trigger} actions={actions} />;
}
