import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { type AnyRouter, useRouter } from '@tanstack/react-router';
import { ApiError } from '../ui/errors.ts';
import { keepDraftsOf } from '../ui/form-draft.ts';
import { kept } from '../ui/kept.ts';
import { toastError } from '../ui/toast.ts';
import { type Answer, call, useMutation } from './client.ts';
import { queryClient } from './query-client.ts';

export type Session = Answer<'getSession'>;
export type Role = Session['user']['role'];

/** The session of this browser; null if nobody is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ['getSession'],
  queryFn: async ({ signal }): Promise<Session | null> => {
    const known = queryClient.getQueryData<Session | null>(['getSession']);
    if (!known && !mayBeSignedIn()) return null;
    try {
      return withDrafts(await call('getSession', {}, signal));
    } catch (error) {
      // The end of a known session leaves the page, as with every other query.
      if (known || !isSignedOut(error)) throw error;
      rememberSignedIn(null);
      return null;
    }
  },
  staleTime: 60_000,
});

const withDrafts = (session: Session): Session => {
  keepDraftsOf(`${session.company.id} ${session.user.id}`);
  return session;
};

export const useSession = (): Session => {
  const { data } = useSuspenseQuery(sessionQuery);
  // React may render once more after the session ended and before the sign-in page opens.
  return data ?? nobody;
};

const nobody: Session = {
  user: { id: 0, email: '', name: '', role: 'viewer', totpEnabled: false, passkeys: 0, recoveryCodesLeft: 0 },
  company: { id: 0, name: '', secondFactorRequired: false },
  otherCompanies: [],
  session: { id: 0, createdUtc: '', expiresUtc: '', idleTimeoutMs: 1 },
  keyPrefix: '',
  scopes: [],
  limits: { read: 1, write: 1, admin: 1, lookup: null },
  features: { allowHttp: false, allowPrivate: false, passkeyHost: null },
  settings: { retentionDays: 1, retryForMs: 0 },
  baseUrl: null,
};

const ranks: Readonly<Record<Role, number>> = { viewer: 0, developer: 1, admin: 2, owner: 3 };

export const roleAtLeast = (role: Role, least: Role): boolean => ranks[role] >= ranks[least];

/** Why the member's role does not allow an action; undefined if it does. */
export const useRefusal = (least: Role): string | undefined => {
  const { role } = useSession().user;
  return roleAtLeast(role, least)
    ? undefined
    : `Your role is ${role}; this needs ${least}. Ask an owner of your company.`;
};

export const useBaseUrl = (): string => `${useSession().baseUrl ?? location.origin}/api/v1`;

/** The company requires a second factor that the member does not have. */
export const lacksFactor = ({ user, company }: Session): boolean =>
  company.secondFactorRequired && !user.totpEnabled && user.passkeys === 0;

export const isSignedOut = (error: unknown): boolean => error instanceof ApiError && error.status === 401;

export const enter = (session: Session): void => {
  rememberSignedIn(session.company.id);
  queryClient.clear();
  queryClient.setQueryData(sessionQuery.queryKey, withDrafts(session));
};

/** If the session expired, signing in returns to the current page. */
export const leave = (router: AnyRouter, why: 'ended' | 'signed-out'): void => {
  if (queryClient.getQueryData(sessionQuery.queryKey) == null) return;
  const next = why === 'ended' ? router.state.location.href : undefined;
  rememberSignedIn(null);
  if (why === 'signed-out') keepDraftsOf(null);
  queryClient.clear();
  queryClient.setQueryData(sessionQuery.queryKey, null);
  // Nothing on the page may hold this up, such as a secret that was not copied.
  void router.navigate({ to: '/sign-in', search: { next, why }, ignoreBlocker: true });
};

/** The company signed in to: scripts cannot read the session cookie. Only a hint; it grants nothing. */
export const hintKey = 'causeway.signed-in';
const hint = kept(hintKey);
/** Without storage, the server is asked each time. */
const mayBeSignedIn = (): boolean => hint.read('unknown') !== null;
export const rememberSignedIn = (companyId: number | null): void =>
  hint.write(companyId === null ? null : String(companyId));

export const useSignOut = () => {
  const router = useRouter();
  return useMutation({
    mutationFn: () => call('signOut', {}),
    onSuccess: () => leave(router, 'signed-out'),
    onError: toastError,
  });
};
