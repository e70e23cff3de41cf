import { ChevronLeft, ChevronRight } from 'lucide-react';
import { Button } from './button.tsx';
import s from './pager.module.css';

interface PagerProps {
  /** Null where there is none in that direction. */
  readonly onFirst: (() => void) | null;
  readonly onNext: (() => void) | null;
  readonly label?: string;
}

/** Steps through pages that are known by cursors: back to the newest, and on to older ones. */
export function Pager({ onFirst, onNext, label = 'Pages' }: PagerProps) {
  if (!onFirst && !onNext) return null;
  return (
    <nav className={s.pager} aria-label={label}>
      <Button
        size="s"
        icon={<ChevronLeft />}
        disabledReason={onFirst ? undefined : 'These are the newest'}
        onClick={onFirst ?? undefined}
      >
        Newest
      </Button>
      <Button
        size="s"
        disabledReason={onNext ? undefined : 'There are no older ones'}
        onClick={onNext ?? undefined}
      >
        Older <ChevronRight />
      </Button>
    </nav>
  );
}
