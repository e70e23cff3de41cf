import { ApiError } from '../ui/errors.ts';
import { type Answer, call } from './client.ts';

/** Browsers know passkeys for names only, and on encrypted pages or this machine. */
export const knowsPasskeys = (): boolean =>
  isSecureContext && 'PublicKeyCredential' in window && !/^[\d.]+$|^\[/.test(location.hostname);

/** Its code loads at the first use: most people sign in without it. */
const load = () => import('@simplewebauthn/browser');

type Options = Parameters<Awaited<ReturnType<typeof load>>['startAuthentication']>[0]['optionsJSON'];
type NewOptions = Parameters<Awaited<ReturnType<typeof load>>['startRegistration']>[0]['optionsJSON'];

export const createPasskey = async (name: string): Promise<Answer<'addPasskey'>> => {
  const { startRegistration } = await load();
  const optionsJSON = (await call('startPasskey', {})) as unknown as NewOptions;
  const { id, rawId, response } = await startRegistration({ optionsJSON }).catch(explain);
  const { clientDataJSON, attestationObject, transports } = response;
  const given = { clientDataJSON, attestationObject, ...(transports && { transports }) };
  const credential = { id, rawId, type: 'public-key', response: given } as const;
  return call('addPasskey', { body: { name, credential } });
};

const assertionFor = async (start: 'startPasskeySignIn' | 'startProof') => {
  const { startAuthentication } = await load();
  const optionsJSON = (await call(start, {})) as unknown as Options;
  const { id, rawId, response } = await startAuthentication({ optionsJSON }).catch(explain);
  return { id, rawId, type: 'public-key', response: { ...response } } as const;
};

export const signInByPasskey = async (): Promise<Answer<'signInWithPasskey'>> =>
  call('signInWithPasskey', { body: { credential: await assertionFor('startPasskeySignIn') } });

export const proveByPasskey = async (): Promise<void> =>
  call('proveIdentity', { body: { credential: await assertionFor('startProof') } });

/** Browsers do not say whether the person cancelled, waited too long or has no passkey. */
const explain = (error: unknown): never => {
  const known = error instanceof Error && error.name === 'InvalidStateError';
  throw new ApiError({
    status: 0,
    message: known
      ? 'This device has a passkey for your account already.'
      : 'The browser did not use a passkey. Try again, or use your password.',
  });
};
