import type {
  CompanyAnswer,
  CompanyStatusAnswer,
  KeyAnswer,
  LimitsAnswer,
  ReencryptAnswer,
} from '@causeway/proto';
import type { OperationId } from './commands.ts';
import { companyStatus } from './company-status.ts';
import { columns, moment, strong, table } from './layout.ts';

/** Formats each operation's answer for people. */
export const printers: Readonly<Record<OperationId, (answer: never) => string>> = {
  createCompany: ({ company_id, name }: CompanyAnswer) => `Company ${strong(company_id)} · ${name}`,

  listCompanies: ({ companies }: { readonly companies: readonly CompanyAnswer[] }) =>
    companies.length === 0
      ? 'There is no company yet. Create one: company create --name NAME'
      : table(
          ['company', 'name', 'created (UTC)'],
          companies.map(({ company_id, name, created_utc }) => [
            String(company_id),
            name,
            moment(created_utc),
          ]),
        ),

  getCompanyStatus: (answer: CompanyStatusAnswer) => companyStatus(answer),

  createKey: ({ id, company_id, name, scopes, value }: KeyAnswer & { readonly value: string }) =>
    `Key ${strong(id)} of company ${company_id} · ${name}

  ${strong(value)}

Copy it now: this is the only time it is shown.
It works from this moment on, for ${scopes.join(', ')}.`,

  listKeys: ({ keys }: { readonly keys: readonly KeyAnswer[] }) =>
    keys.length === 0
      ? 'There is no key yet. Create one: key create --company ID --name NAME --scopes A,B'
      : table(
          ['id', 'company', 'name', 'key', 'status', 'last used (UTC)', 'scopes'],
          keys.map((key) => [
            String(key.id),
            String(key.company_id),
            key.name,
            key.masked,
            key.is_active ? 'active' : `revoked ${moment(key.revoked_utc)}`,
            moment(key.last_used_utc),
            key.scopes.join(' '),
          ]),
        ),

  revokeKey: ({ id, name, masked, revoked_utc }: KeyAnswer) =>
    `Key ${strong(id)} is revoked · ${name} · ${masked}
No gateway accepts it any more (since ${moment(revoked_utc)} UTC).`,

  setLimits: ({ company_id, id, limits }: { company_id: number; id?: number; limits: LimitsAnswer }) =>
    `${id === undefined ? `Company ${strong(company_id)}` : `Key ${strong(id)} of company ${company_id}`} · requests per minute

${columns(Object.entries(limits).map(([name, limit]) => [`  ${name}`, limit === null ? 'default' : String(limit)]))}`,

  createPortalOwner: ({ company_id, email, password }: OwnerAnswer) =>
    password === undefined
      ? `Owner of the portal of company ${strong(company_id)} · ${email}`
      : `Owner of the portal of company ${strong(company_id)}

${columns([
  ['  email', email],
  ['  password', strong(password)],
])}

Copy the password now: this is the only time it is shown.`,

  resetPortalOwner: ({ company_id, email, two_factor_reset, link, expires_utc }: ResetAnswer) =>
    `A link for the owner of company ${strong(company_id)} · ${email}

  ${strong(link)}
${two_factor_reset ? '\nTwo-factor sign-in is off, and all sessions of the owner have ended.' : ''}
It is to be opened below the portal's own origin, works once, and until ${moment(expires_utc)} UTC.
Copy it now: this is the only time it is shown.`,

  reencryptSecrets: (answer: ReencryptAnswer) => resealed(answer, 'WEBHOOKS_SECRET_KEYS'),

  reencryptFactors: (answer: ReencryptAnswer) => resealed(answer, 'PORTAL_SECRET_KEYS'),
};

const resealed = ({ key, checked, resealed, unopened }: ReencryptAnswer, ring: string): string =>
  `Secrets ${strong(checked)} · re-encrypted with the key ${key} ${strong(resealed)}
${
  unopened === 0
    ? 'No other key is needed any more.'
    : `${strong(unopened)} could not be decrypted, because ${ring} does not have their key. They were not changed.`
}`;

interface ResetAnswer {
  readonly company_id: number;
  readonly email: string;
  readonly two_factor_reset: boolean;
  readonly link: string;
  readonly expires_utc: string;
}

interface OwnerAnswer {
  readonly company_id: number;
  readonly email: string;
  /** Only if it was generated here. */
  readonly password?: string;
}
