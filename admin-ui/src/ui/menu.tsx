import { Ellipsis } from 'lucide-react';
import { cloneElement, Suspense, useState } from 'react';
import { IconButton } from './button.tsx';
import { firstInput, later } from './later.ts';
import type { MenuProps } from './menu-popup.tsx';

const MenuPopup = later(() => firstInput.then(() => import('./menu-popup.tsx')), 'MenuPopup');

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
