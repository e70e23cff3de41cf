import { hash } from 'node:crypto';
import {
  conflict,
  contract,
  invalidField,
  maxPasskeys,
  networkOf,
  notFound,
  problem,
  siteOf,
} from '@causeway/proto';
import { duplicateKey, handler, json } from '@causeway/runtime';
import { generateRegistrationOptions, verifyRegistrationResponse } from '@simplewebauthn/server';
import type { Access } from '../context.ts';
import { readCompanyName, selectPasskeys } from '../rows.ts';
import {
  assertionOptions,
  handleOf,
  makeChallenge,
  passkeySite,
  spendChallenge,
  verifyAssertion,
} from './assertions.ts';
import { attempt, memberKey } from './attempts.ts';
import { changeSecurity } from './end.ts';
import { replaceRecoveryCodes } from './factor-codes.ts';
import { countPasskeys, dropCodesOfLastFactor, hasFactor, lockFactors } from './factors.ts';
import { startSession } from './sign-in.ts';
import { deviceSubject, membershipOf, passkeySubjects } from './subjects.ts';

/** Those that every platform has: Ed25519, ECDSA with P-256, and RSA. */
const algorithms = [-8, -7, -257];

export const listPasskeys = ({ db }: Access) =>
  handler(contract.listPasskeys, async ({ companyId, user }) => {
    const passkeys = await selectPasskeys(db, companyId, user.id)
      .select(['passkey_id as id', 'name', 'created_utc as createdUtc', 'last_used_utc as lastUsedUtc'])
      .orderBy('created_utc')
      .limit(maxPasskeys)
      .execute();
    return json(200, { passkeys });
  });

const purposeOf = ({ user }: { readonly user: { readonly sessionId: number } }): string =>
  `registration in session ${user.sessionId}`;

/** The chooser of the browser shows the company: a person may have a passkey for each. */
export const startPasskey = (access: Access) =>
  handler(contract.startPasskey, async (call) => {
    const { companyId, user } = call;
    const site = passkeySite(access);
    const passkeys = await selectPasskeys(access.db, companyId, user.id).select('credential_id').execute();
    const options = await generateRegistrationOptions({
      rpName: 'Causeway',
      rpID: site.host,
      userID: handleOf({ companyId, userId: user.id }),
      userName: `${user.email} (${await readCompanyName(access.db, companyId)})`,
      userDisplayName: user.name || user.email,
      challenge: makeChallenge(access, purposeOf(call)),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: passkeys.map(({ credential_id }) => ({ id: credential_id.toString('base64url') })),
      supportedAlgorithmIDs: algorithms,
    });
    return json(200, options as object as Record<string, unknown>);
  });

export const addPasskey = (access: Access) =>
  handler(contract.addPasskey, async (call) => {
    const { companyId, user, body } = call;
    const { origin, host } = passkeySite(access);
    const { credential, name } = body;
    let challenge = '';
    const { registrationInfo } = await verifyRegistrationResponse({
      response: credential as Parameters<typeof verifyRegistrationResponse>[0]['response'],
      expectedChallenge: (text) => {
        challenge = text;
        return true;
      },
      expectedOrigin: origin,
      expectedRPID: host,
      supportedAlgorithmIDs: algorithms,
    }).catch(() => ({ registrationInfo: undefined }));
    if (!registrationInfo || !(await spendChallenge(access, purposeOf(call), challenge)))
      throw invalidField('credential', 'must_agree', 'the passkey could not be verified; try again');
    const { id, publicKey, counter } = registrationInfo.credential;
    const credential_id = Buffer.from(id, 'base64url');
    const created_utc = access.now();
    const row = {
      company_id: companyId,
      // As many digits as an id in a path may have.
      passkey_id: Buffer.from(access.random(6)).readUIntBE(0, 6) + 1,
      user_id: user.id,
      name,
      credential_hash: hash('sha256', credential_id, 'buffer'),
      credential_id,
      public_key: Buffer.from(publicKey),
      sign_count: counter,
      transports: (credential.response.transports ?? []).join(' '),
      created_utc,
    };
    const recoveryCodes = await changeSecurity(
      access,
      call,
      'passkey.added',
      async (trx) => {
        const person = await lockFactors(trx, { companyId, userId: user.id });
        if (person.passkeys >= maxPasskeys)
          throw conflict(`you have ${maxPasskeys} passkeys; remove one first`);
        await trx.insertInto('portal_passkeys').values(row).execute();
        await countPasskeys(trx, companyId, user.id, person.passkeys + 1);
        if (hasFactor(person)) return [];
        return replaceRecoveryCodes(trx, { companyId, userId: user.id }, access.random);
      },
      { after: { name } },
    ).catch((error: unknown) => {
      if (duplicateKey(error)) throw conflict('this passkey is registered already');
      throw error;
    });
    const answer = { id: row.passkey_id, name, createdUtc: created_utc.toISOString(), lastUsedUtc: null };
    return json(201, { ...answer, recoveryCodes });
  });

export const removePasskey = (access: Access) =>
  handler(contract.removePasskey, async (call) => {
    const { companyId, user } = call;
    const passkeyId = call.id('passkey');
    const found = await selectPasskeys(access.db, companyId, user.id)
      .select('name')
      .where('passkey_id', '=', passkeyId)
      .executeTakeFirstOrThrow(() => notFound('passkey'));
    await changeSecurity(
      access,
      call,
      'passkey.removed',
      async (trx) => {
        const person = await lockFactors(trx, { companyId, userId: user.id });
        const { numDeletedRows } = await trx
          .deleteFrom('portal_passkeys')
          .where('company_id', '=', companyId)
          .where('user_id', '=', user.id)
          .where('passkey_id', '=', passkeyId)
          .executeTakeFirst();
        if (numDeletedRows === 0n) throw notFound('passkey');
        const passkeys = person.passkeys - 1;
        await countPasskeys(trx, companyId, user.id, passkeys);
        await dropCodesOfLastFactor(trx, { companyId, userId: user.id }, { ...person, passkeys });
      },
      { before: { name: found.name } },
    );
    return { status: 204, body: null };
  });

const signInPurpose = 'sign-in';

export const startPasskeySignIn = (access: Access) =>
  handler(contract.startPasskeySignIn, async () =>
    json(200, await assertionOptions(access, signInPurpose, [])),
  );

/**
 * The membership comes from the user handle of the passkey, and its stored public key proves it. Strangers neither delay nor
 * crowd out a device that is known for the membership.
 */
export const signInWithPasskey = (access: Access) =>
  handler(contract.signInWithPasskey, ({ body, actor, requestId, deadlineMs }) => {
    passkeySite(access);
    const { devices, gates, now } = access;
    const { address } = actor;
    const whose = membershipOf(body.credential.response.userHandle ?? '');
    const knownDevice = devices.recogniseMember(actor.device, whose);
    const prover = knownDevice
      ? { subjects: [deviceSubject(knownDevice, now())], gate: gates.members, key: memberKey(whose.userId) }
      : {
          subjects: passkeySubjects(whose, address, now()),
          gate: gates.passkeys,
          key: networkOf(address),
          group: siteOf(address),
        };
    return attempt(access, prover, deadlineMs, async ({ succeeded }) => {
      const person = await verifyAssertion(access, signInPurpose, whose, body.credential);
      if (!person) {
        access.log.warn({ requestId, address, ...whose }, 'passkey refused');
        throw problem('wrong_passkey');
      }
      await succeeded([]);
      return startSession(access, 200, {
        ...whose,
        epoch: person.device_epoch,
        by: 'passkey',
        name: person.name || person.email,
        email: person.email,
        actor,
        requestId,
      });
    });
  });
