import { ProveIdentity } from '../../model/prove-identity.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Toaster } from '../../ui/toaster.tsx';
import { CommandMenu } from './command-menu.tsx';
import { Navigation } from './navigation.tsx';
// The code of all menus and dialogs comes with these, so that they open while the server is away.
import '../../ui/dialog-popup.tsx';
import '../../ui/menu-popup.tsx';

export type Overlay = 'navigation' | 'commands';

interface OverlaysProps {
  readonly shown: Overlay | null;
  readonly onShow: (overlay: Overlay | null) => void;
}

export function Overlays({ shown, onShow }: OverlaysProps) {
  const close = (): void => onShow(null);
  return (
    <>
      <Toaster />
      <ProveIdentity />
      <Dialog open={shown === 'navigation'} onClose={close} title="Navigation" side>
        <Navigation plain />
      </Dialog>
      {shown === 'commands' && <CommandMenu onClose={close} />}
    </>
  );
}
