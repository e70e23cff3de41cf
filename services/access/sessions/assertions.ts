import { hash } from 'node:crypto';
import { conflict, contract, invalidField, maxPasskeys } from '@causeway/proto';
import { duplicateKey, handler, json, transaction } from '@causeway/runtime';
import { generateAuthenticationOptions, verifyAuthenticationResponse } from '@simplewebauthn/server';
import { audit, authorOf } from '../audit.ts';
import type { PasskeySite } from '../config.ts';
import type { Access } from '../context.ts';
import { selectPasskeys, updateSession } from '../rows.ts';
import { atSession, attempt } from './attempts.ts';
import { hasFactor } from './factors.ts';
import { confirmPassword, type PersonRow, personColumns, selectMember } from './person.ts';
import { requireFactor } from './second-factor.ts';
import type { Membership } from './subjects.ts';

const challengeForMs = 5 * 60_000;
const headBytes = 22;
const markBytes = 16;

/** @throws Problem `conflict` if the installation has no passkeys */
export const passkeySite = ({ portal }: Pick<Access, 'portal'>): PasskeySite => {
  if (!portal.passkeys) throw conflict('passkeys are not set up here; use your password');
  return portal.passkeys;
};

/** 16 random bytes, the end of its life and a signature. So nothing is stored until it is spent, and a kill loses nothing. */
export const makeChallenge = (
  { challenges, now, random }: Access,
  purpose: string,
): Uint8Array<ArrayBuffer> => {
  const head = Buffer.alloc(headBytes);
  head.set(random(16));
  head.writeUIntBE(now().getTime() + challengeForMs, 16, 6);
  const mark = challenges.sign(`${purpose}\n${head.toString('base64url')}`, markBytes);
  return Uint8Array.from(Buffer.concat([head, mark]));
};

/** A spent challenge is kept like a failed attempt: for a day. @returns whether it was valid and unspent */
export const spendChallenge = async (
  { challenges, db, now }: Access,
  purpose: string,
  challenge: string,
): Promise<boolean> => {
  const bytes = Buffer.from(challenge, 'base64url');
  if (bytes.length !== headBytes + markBytes) return false;
  const [head, at] = [bytes.subarray(0, headBytes), now()];
  const signed = `${purpose}\n${head.toString('base64url')}`;
  if (!challenges.verify(signed, bytes.subarray(headBytes))) return false;
  if (head.readUIntBE(16, 6) < at.getTime()) return false;
  const subject = hash('sha256', `passkey challenge\n${bytes.toString('base64url')}`, 'buffer');
  try {
    await db
      .insertInto('sign_in_delays')
      .values({ subject, failures: 1, last_attempt_utc: at, next_attempt_utc: at })
      .execute();
    return true;
  } catch (error) {
    if (duplicateKey(error)) return false;
    throw error;
  }
};

/** What the authenticator stores and returns: it names the membership, and nothing personal. */
export const handleOf = ({ companyId, userId }: Membership): Uint8Array<ArrayBuffer> => {
  const handle = Buffer.alloc(16);
  handle.writeBigUInt64BE(BigInt(companyId), 0);
  handle.writeBigUInt64BE(BigInt(userId), 8);
  return Uint8Array.from(handle);
};

/** @param ids of the credentials that are asked for; none: those that the browser finds. */
export const assertionOptions = async (
  access: Access,
  purpose: string,
  ids: readonly Buffer[],
): Promise<Record<string, unknown>> => ({
  ...(await generateAuthenticationOptions({
    rpID: passkeySite(access).host,
    challenge: makeChallenge(access, purpose),
    userVerification: 'required',
    allowCredentials: ids.map((id) => ({ id: id.toString('base64url') })),
  })),
});

type Assertion = Parameters<typeof verifyAuthenticationResponse>[0]['response'];

/**
 * Of this membership, for this purpose, with user verification, made at the portal's own origin, and for the first time.
 * @returns the member; undefined for any other assertion
 */
export const verifyAssertion = async (
  access: Access,
  purpose: string,
  whose: Membership,
  assertion: object,
): Promise<PersonRow | undefined> => {
  const { db, now } = access;
  const { origin, host } = passkeySite(access);
  const response = assertion as Assertion;
  const { companyId, userId } = whose;
  const person = await selectMember(db, companyId, userId).select(personColumns).executeTakeFirst();
  const passkey = await selectPasskeys(db, companyId, userId)
    .select(['passkey_id', 'credential_id', 'public_key', 'sign_count'])
    .where('credential_hash', '=', hash('sha256', Buffer.from(response.id, 'base64url'), 'buffer'))
    .executeTakeFirst();
  if (!person || !passkey) return undefined;
  let challenge = '';
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response,
    expectedChallenge: (text) => {
      challenge = text;
      return true;
    },
    expectedOrigin: origin,
    expectedRPID: host,
    credential: {
      id: passkey.credential_id.toString('base64url'),
      publicKey: Uint8Array.from(passkey.public_key),
      counter: passkey.sign_count,
    },
  }).catch(() => ({ verified: false, authenticationInfo: undefined }));
  if (!verified || !authenticationInfo || !(await spendChallenge(access, purpose, challenge)))
    return undefined;
  const { numUpdatedRows } = await db
    .updateTable('portal_passkeys')
    .set({ sign_count: authenticationInfo.newCounter, last_used_utc: now() })
    .where('company_id', '=', companyId)
    .where('passkey_id', '=', passkey.passkey_id)
    // Another assertion of a copy may have raised the counter meanwhile; many authenticators have none.
    .where('sign_count', '=', passkey.sign_count)
    .executeTakeFirst();
  return numUpdatedRows === 1n ? person : undefined;
};

const proofPurpose = (sessionId: number): string => `proof in session ${sessionId}`;

export const startProof = (access: Access) =>
  handler(contract.startProof, async ({ companyId, user }) => {
    const rows = await selectPasskeys(access.db, companyId, user.id)
      .select('credential_id')
      .limit(maxPasskeys)
      .execute();
    if (rows.length === 0) throw conflict('you have no passkey; use your password');
    const ids = rows.map(({ credential_id }) => credential_id);
    return json(200, await assertionOptions(access, proofPurpose(user.sessionId), ids));
  });

/** As a sign-in: a passkey, or the password and, if the member has a second factor, a code. */
export const proveIdentity = (access: Access) =>
  handler(contract.proveIdentity, async (call) => {
    const { companyId, user, body } = call;
    const prover = atSession(access, companyId, user, 'factor');
    if (body.credential) {
      const { credential } = body;
      await attempt(access, prover, call.deadlineMs, async ({ succeeded }) => {
        const whose = { companyId, userId: user.id };
        if (!(await verifyAssertion(access, proofPurpose(user.sessionId), whose, credential)))
          throw invalidField('credential', 'must_agree', 'the passkey could not be verified; try again');
        await succeeded([]);
      });
    } else {
      if (body.password === undefined) throw invalidField('password', 'required', 'password is required');
      const person = await confirmPassword(access, call, 'password', body.password);
      if (hasFactor(person)) await requireFactor(access, prover, call, person, body);
    }
    await transaction(access.db, async (trx) => {
      await updateSession(trx, companyId, user.sessionId).set({ proved_utc: access.now() }).execute();
      const by = body.credential
        ? 'passkey'
        : body.recoveryCode
          ? 'recovery code'
          : body.totp
            ? 'code'
            : 'password';
      await audit(trx, authorOf(access, call), 'identity.proved', ['session', user.sessionId, user.email], {
        after: { by },
      });
    });
    return { status: 204, body: null };
  });
