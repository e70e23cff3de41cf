import { type Role, roleAtLeast, useSession } from '../../app/session.ts';
import { Fieldset, Radio } from '../../ui/choice.tsx';
import { roleWords } from './roles.ts';

interface RoleChoiceProps {
  readonly value: Role;
  readonly onChange: (role: Role) => void;
  readonly error: string | undefined;
}

export function RoleChoice({ value, onChange, error }: RoleChoiceProps) {
  const { role } = useSession().user;
  return (
    <Fieldset legend="Role" error={error}>
      {roleWords
        .filter((one) => one.role !== 'owner' || roleAtLeast(role, 'owner'))
        .map((one) => (
          <Radio
            key={one.role}
            name="role"
            label={one.label}
            description={one.description}
            checked={value === one.role}
            onChange={() => onChange(one.role)}
          />
        ))}
    </Fieldset>
  );
}
