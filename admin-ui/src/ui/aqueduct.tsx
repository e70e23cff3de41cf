import s from './aqueduct.module.css';

/** @param props.built whether each of its arches is; a built one has a colour. */
export const Aqueduct = ({ built }: { readonly built: readonly boolean[] }) => (
  <svg className={s.aqueduct} viewBox={`0 0 ${built.length * 40} 34`} aria-hidden="true">
    {built.map((isBuilt, at) => (
      <path
        key={String(at)}
        data-done={isBuilt || undefined}
        d={`M${at * 40} 2h40M${at * 40} 7h40M${at * 40 + 5} 34V24a15 15 0 0 1 30 0v10`}
      />
    ))}
  </svg>
);
