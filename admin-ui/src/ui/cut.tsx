import clsx from 'clsx';
import s from './cut.module.css';

interface CutProps {
  readonly text: string;
  readonly strong?: boolean;
  readonly mono?: boolean;
}

/**
 * A text that people chose, on one line. It is cut off where the room ends, at its own end in either writing
 * direction; hovering or focusing shows all of it.
 */
export function Cut({ text, strong, mono }: CutProps) {
  return (
    <bdi className={clsx(s.cut, strong && s.strong, mono && s.mono)} data-tip={text} data-tip-cut>
      {text}
    </bdi>
  );
}
