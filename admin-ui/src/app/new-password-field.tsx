import { minPasswordCharacters } from '@causeway/proto/passwords';
import { Field, PasswordInput } from '../ui/form.tsx';

interface NewPasswordFieldProps {
  readonly label: string;
  /** The account, for password managers. */
  readonly email: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error: string | undefined;
  readonly hint?: string;
}

/** The field for a new password. */
export function NewPasswordField({ label, email, value, onChange, error, hint }: NewPasswordFieldProps) {
  return (
    <>
      <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
      <Field
        label={label}
        error={error}
        hint={`At least ${minPasswordCharacters} characters. A few random words are easier to remember than symbols. ${hint ?? ''}`}
      >
        <PasswordInput
          autoComplete="new-password"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      </Field>
    </>
  );
}
