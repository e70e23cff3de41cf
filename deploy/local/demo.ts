import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AnswerTo, type BodyFor, type OperatorOperationId, scopes } from '@causeway/proto';
import { openLane } from '../../services/access/cli/cluster.ts';
import { seedDemo } from '../../services/crm/demo/seed-demo.ts';
import type { Report } from './report.ts';

export interface Demo {
  readonly apiKey: string;
  readonly portalEmail: string;
  readonly portalPassword: string;
}

const companyNames = ['Brightwater Partners', 'Northgate Advisory', 'Solano Group'];
const portalEmail = 'owner@brightwater.example';

interface Progress {
  readonly companyIds: readonly number[];
  readonly apiKey?: string;
  readonly portalPassword?: string;
  readonly ownerMade?: boolean;
  readonly peopleSeeded?: boolean;
}

export const seedDemoOnce = async (options: SeedOptions): Promise<Demo> => {
  const file = join(options.home, 'demo.json');
  const progress: Progress = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { companyIds: [] };
  const { apiKey, portalPassword, peopleSeeded } = progress;
  if (apiKey && portalPassword && peopleSeeded) return { apiKey, portalEmail, portalPassword };
  return options.report.step('demo data', () => seed(options, file, progress));
};

const seed = async (options: SeedOptions, file: string, from: Progress): Promise<Demo> => {
  let progress = from;
  const note = (more: Partial<Progress>): void => {
    options.signal.throwIfAborted();
    progress = { ...progress, ...more };
    writeFileSync(`${file}.fresh`, JSON.stringify(progress, undefined, 2), { mode: 0o600 });
    renameSync(`${file}.fresh`, file);
  };

  const operator = await openOperator(options.natsUrl);
  try {
    for (const name of companyNames.slice(progress.companyIds.length)) {
      const { company_id } = await operator.ask('createCompany', { name });
      note({ companyIds: [...progress.companyIds, company_id] });
    }
    const [company_id = 0] = progress.companyIds;
    if (!progress.apiKey) {
      const { value } = await operator.ask('createKey', { company_id, name: 'Demo', scopes: [...scopes] });
      note({ apiKey: value });
    }
    if (!progress.ownerMade) {
      // Stored before it is used: if this start dies in between, the next one still knows the owner's password.
      if (!progress.portalPassword) note({ portalPassword: randomBytes(12).toString('base64url') });
      const password = progress.portalPassword ?? '';
      await operator.ask('createPortalOwner', { company_id, email: portalEmail, password }).catch(unlessMade);
      note({ ownerMade: true });
    }
  } finally {
    await operator.close();
  }
  await seedDemo({ mysqlUrl: options.mysqlUrl, isVtgate: options.isVtgate, companyIds: progress.companyIds });
  note({ peopleSeeded: true });

  const { apiKey = '', portalPassword = '' } = progress;
  return { apiKey, portalEmail, portalPassword };
};

const unlessMade = (error: unknown): void => {
  if (!String(error).includes('already in use')) throw error;
};

interface SeedOptions {
  readonly home: string;
  readonly mysqlUrl: string;
  readonly isVtgate: boolean;
  readonly natsUrl: string;
  readonly report: Report;
  readonly signal: AbortSignal;
}

export interface Operator {
  ask<Id extends OperatorOperationId>(operation: Id, body: BodyFor<Id>): Promise<AnswerTo<Id>>;
  close(): Promise<void>;
}

export const openOperator = async (natsUrl: string): Promise<Operator> => {
  const { ask, close } = await openLane({ natsUrl, source: 'the local cluster' }, 'operator');
  return {
    ask: async <Id extends OperatorOperationId>(operation: Id, body: BodyFor<Id>) => {
      const { status, body: answer } = await ask(operation, body ?? {});
      if (status >= 400) throw new Error(`${operation} was answered ${status}: ${JSON.stringify(answer)}`);
      return answer as unknown as AnswerTo<Id>;
    },
    close,
  };
};
