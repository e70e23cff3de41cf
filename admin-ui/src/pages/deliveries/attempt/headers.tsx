import { CopyButton } from '../../../ui/copy-button.tsx';
import s from './headers.module.css';

interface HeadersProps {
  readonly headers: readonly (readonly [string, string])[];
  readonly label: string;
}

/** The headers as sent or received. */
export function Headers({ headers, label }: HeadersProps) {
  return (
    <section aria-label={label} className={s.box}>
      <header className={s.head}>
        <h3>{label}</h3>
        <CopyButton
          value={headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
          label={`Copy ${label.toLowerCase()}`}
        />
      </header>
      <dl className={s.list}>
        {headers.map(([name, value], index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a name may come twice
          <div key={index}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
