import { Badge } from '../../../ui/badge.tsx';
import { type Document, resolve, type Schema } from './document.ts';
import s from './field-list.module.css';
import { Prose } from './prose.tsx';

interface ShownField {
  readonly name: string;
  readonly required: boolean;
  readonly note?: string;
  readonly schema: Schema;
}

/** Names, types and rules of an object's fields, with those of inner objects below them. */
export function FieldList({
  document,
  fields,
}: {
  readonly document: Document;
  readonly fields: readonly ShownField[];
}) {
  if (fields.length === 0) return null;
  return (
    <ul className={s.list}>
      {fields.map((field) => {
        const schema = resolve(document, field.schema);
        const inner = fieldsOf(document, schema);
        return (
          <li key={field.name}>
            <p className={s.name}>
              <code>{field.name}</code> <span className={s.type}>{typeOf(document, schema)}</span>
              {field.note !== undefined && <Badge>{field.note}</Badge>}
              {field.required && <Badge tone="accent">required</Badge>}
            </p>
            {schema.description !== undefined && <Prose text={schema.description} />}
            {schema.enum && (
              <p className={s.rules}>
                One of{' '}
                {schema.enum.map((value) => (
                  <code key={String(value)}>{String(value)} </code>
                ))}
              </p>
            )}
            {rulesOf(schema) !== '' && <p className={s.rules}>{rulesOf(schema)}</p>}
            <FieldList document={document} fields={inner} />
          </li>
        );
      })}
    </ul>
  );
}

/** The fields of an object, or of the objects of a list. */
export const fieldsOf = (document: Document, schema: Schema): readonly ShownField[] => {
  const whole = resolve(document, schema);
  const object = whole.items ? resolve(document, whole.items) : whole;
  return Object.entries(object.properties ?? {}).map(([name, inner]) => ({
    name,
    required: object.required?.includes(name) ?? false,
    schema: inner,
  }));
};

const typeOf = (document: Document, schema: Schema): string => {
  const either = schema.anyOf ?? schema.oneOf;
  if (either) return [...new Set(either.map((one) => typeOf(document, resolve(document, one))))].join(' or ');
  if (schema.items) return `list of ${typeOf(document, resolve(document, schema.items))}`;
  const types = [schema.type ?? 'any'].flat().join(' or ');
  return schema.format === undefined ? types : `${types}, ${schema.format}`;
};

const rulesOf = ({ minLength, maxLength, minimum, maximum, default: otherwise }: Schema): string =>
  [
    minLength !== undefined && maxLength !== undefined && `${minLength}–${maxLength} characters`,
    minLength === undefined && maxLength !== undefined && `at most ${maxLength} characters`,
    minimum !== undefined && `at least ${minimum}`,
    maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER && `at most ${maximum}`,
    otherwise !== undefined && `${JSON.stringify(otherwise)} when left out`,
  ]
    .filter(Boolean)
    .join('; ');
