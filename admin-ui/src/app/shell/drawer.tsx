import { Dialog } from '../../ui/dialog.tsx';
import { Navigation } from './navigation.tsx';

/** The navigation on narrow screens. */
export function Drawer({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Navigation" side>
      <Navigation plain />
    </Dialog>
  );
}
