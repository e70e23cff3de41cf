import { useQuery } from '@tanstack/react-query';
import { operationQuery } from '../../api/query.ts';
import { useSession } from '../../app/session.ts';
import { useDebounced } from '../../app/use-debounced.ts';
import { sentence } from '../../errors.ts';
import { Field, TextInput } from '../../ui/field.tsx';

interface UrlFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** The server's error for this field from the last submit. */
  readonly error: string | undefined;
}

/** The target URL, checked by the server while it is typed. */
export function UrlField({ value, onChange, error }: UrlFieldProps) {
  const { features } = useSession();
  const url = useDebounced(value.trim(), 400);
  const settled = url === value.trim();
  const check = useQuery({
    ...operationQuery('checkSubscriptionUrl', { body: { url } }),
    enabled: url.length > 8,
    staleTime: 60_000,
    retry: false,
  });
  const problem = settled && check.data ? check.data.problem : null;
  const usual = features.allowHttp
    ? 'Events are sent here as POST requests.'
    : 'Events are sent here as POST requests. Must start with https://.';
  return (
    <Field
      label="URL"
      error={problem === null ? error && advise(error) : advise(sentence(problem))}
      hint={settled && check.data?.problem === null ? '✓ This URL can be used.' : usual}
    >
      <TextInput
        type="url"
        mono
        spellCheck={false}
        placeholder="https://hooks.example.com/crm"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </Field>
  );
}

/** The server says only that a text is no URL; says what one looks like. */
const advise = (error: string): string =>
  error === 'Invalid URL.' ? 'This is not a URL. Enter one like https://hooks.example.com/crm.' : error;
