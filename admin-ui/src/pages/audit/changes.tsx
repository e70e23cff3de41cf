import s from './changes.module.css';

type Fields = Readonly<Record<string, unknown>> | null;

/** The values before and after, field by field; folded if they are many, as those of a new record are. */
export function Changes({ before, after }: { readonly before: Fields; readonly after: Fields }) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  if (names.length === 0) return null;
  const list = (
    <dl className={s.changes}>
      {names.map((name) => {
        const was = before?.[name];
        const is = after?.[name];
        return (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {was !== undefined && <del>{text(was)}</del>}
              {was !== undefined && is !== undefined && <span aria-hidden="true"> → </span>}
              {is !== undefined && <ins>{text(is)}</ins>}
            </dd>
          </div>
        );
      })}
    </dl>
  );
  if (names.length <= maxUnfolded) return list;
  return (
    <details className={s.folded}>
      <summary>{names.length} fields</summary>
      {list}
    </details>
  );
}

const maxUnfolded = 2;

const text = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(text).join(', ');
  if (value === null) return 'none';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};
