export { listAudit } from './listAudit.ts';
