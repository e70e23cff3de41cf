export { createCompany } from './createCompany.ts';
export { listCompanies } from './listCompanies.ts';
