import { type ReactElement, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';

interface DeferredProps {
  /** Loads the code of the control. */
  readonly load: () => Promise<unknown>;
  /** Stands in for the control until its code is loaded. */
  readonly placeholder: (events: {
    readonly onClick: () => void;
    readonly onPointerEnter: () => void;
  }) => ReactElement;
  /** @param pressed whether the stand-in was pressed, so that the control opens at once. */
  readonly children: (pressed: boolean) => ReactNode;
}

/** After the first page has settled. */
const delayMs = 1500;

/**
 * A control whose code is not part of the first page: it loads on first use, or when the page has settled. It never takes
 * the place of its stand-in under the pointer: a press that begins there must end there.
 */
export function Deferred({ load, placeholder, children }: DeferredProps) {
  const [wanted, setWanted] = useState<'later' | 'shown' | 'pressed'>('later');
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (wanted !== 'later') return;
    const isFree = (): boolean => place.current?.matches(':hover, :focus-within') === false;
    const show = (): void => {
      if (isFree()) setWanted('shown');
    };
    const timer = setInterval(() => {
      if (isFree()) load().then(show, () => {});
    }, delayMs);
    return () => clearInterval(timer);
  }, [wanted, load]);
  const standIn = placeholder({
    onClick: () => setWanted('pressed'),
    onPointerEnter: () => void load().catch(() => {}),
  });
  return (
    <span ref={place}>
      {wanted === 'later' ? (
        standIn
      ) : (
        <Suspense fallback={standIn}>{children(wanted === 'pressed')}</Suspense>
      )}
    </span>
  );
}
