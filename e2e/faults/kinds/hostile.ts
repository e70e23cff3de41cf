import type { Attack } from '../hostile/attack.ts';
import { jsonKeys } from '../hostile/json-keys.ts';
import { signInFloods } from '../hostile/sign-ins.ts';
import { slowCompany } from '../hostile/slow-company.ts';
import { tinyChunks } from '../hostile/tiny-chunks.ts';
import { unreadAnswers } from '../hostile/unread-answers.ts';

/** Attacks by strangers and tenants. The last one leaves a backlog. */
export const attacks: readonly Attack[] = [unreadAnswers, tinyChunks, jsonKeys, ...signInFloods, slowCompany];
