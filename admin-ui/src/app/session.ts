import { type QueryClient, queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import type { AnyRouter } from '@tanstack/react-router';
import { call } from '../api/client.ts';
import type { Answer } from '../api/types.ts';
import { ApiError } from '../errors.ts';

export type Session = Answer<'getSession'>;
export type Role = Session['user']['role'];

/** Who is signed in; null: nobody. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }): Promise<Session | null> => {
    if (!mayBeSignedIn()) return null;
    try {
      return await call('getSession', {}, signal);
    } catch (error) {
      if (!isSignedOut(error)) throw error;
      rememberSignedIn(null);
      return null;
    }
  },
  staleTime: 60_000,
});

/** The session of whoever looks at a page behind the sign-in. */
export const useSession = (): Session => {
  const { data } = useSuspenseQuery(sessionQuery);
  // Between the end of a session and the sign-in page, React may render once more.
  return data ?? nobody;
};

const nobody: Session = {
  user: { id: 0, email: '', name: '', role: 'viewer', totpEnabled: false, recoveryCodesLeft: 0 },
  company: { id: 0, name: '' },
  otherCompanies: [],
  session: { id: 0, createdUtc: '', expiresUtc: '', idleTimeoutMs: 1 },
  keyPrefix: '',
  scopes: [],
  limits: { read: 1, write: 1, admin: 1, lookup: null },
  features: { allowHttp: false, allowPrivate: false },
  baseUrl: null,
};

/** Members whom an operator made have no name before they choose one. */
export const nameOfMember = ({ name, email }: { readonly name: string; readonly email: string }): string =>
  name || email;

const ranks: Readonly<Record<Role, number>> = { viewer: 0, developer: 1, admin: 2, owner: 3 };

export const roleAtLeast = (role: Role, least: Role): boolean => ranks[role] >= ranks[least];

/** Why the person may not do what needs a role; undefined: they may. */
export const useRefusal = (least: Role): string | undefined => {
  const { role } = useSession().user;
  return roleAtLeast(role, least)
    ? undefined
    : `Your role is ${role}; this needs ${least}. Ask an owner of your company.`;
};

/** Where the company's integrations reach the interface. */
export const useBaseUrl = (): string => `${useSession().baseUrl ?? location.origin}/api/v1`;

export const isSignedOut = (error: unknown): boolean => error instanceof ApiError && error.status === 401;

/** Begins with what a sign-in or a switch was answered with; nothing that was known before is kept. */
export const enter = (queryClient: QueryClient, session: Session): void => {
  rememberSignedIn(session.company.id);
  queryClient.clear();
  queryClient.setQueryData(sessionQuery.queryKey, session);
};

/** Forgets everything that was shown, and asks for a sign-in that leads back here. */
export const leave = (queryClient: QueryClient, router: AnyRouter, why: 'ended' | 'signed-out'): void => {
  if (queryClient.getQueryData(sessionQuery.queryKey) == null) return;
  const next = why === 'ended' ? router.state.location.href : undefined;
  rememberSignedIn(null);
  queryClient.clear();
  queryClient.setQueryData(sessionQuery.queryKey, null);
  void router.navigate({ to: '/sign-in', search: { next, why } });
};

/**
 * Whether this browser signed in here and has not signed out, so that the server need not be asked who a stranger
 * is. The cookie is no script's to read; this is no more than a hint, and opens nothing.
 */
export const hintKey = 'causeway.signed-in';
const mayBeSignedIn = (): boolean => {
  try {
    return localStorage.getItem(hintKey) !== null;
  } catch {
    return true;
  }
};
export const rememberSignedIn = (companyId: number | null): void => {
  try {
    if (companyId !== null) localStorage.setItem(hintKey, String(companyId));
    else localStorage.removeItem(hintKey);
  } catch {
    // Without storage the server is asked each time.
  }
};
