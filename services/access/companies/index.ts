export { closeCompany, openCompany } from './close-company.ts';
export { createCompany } from './create-company.ts';
export { listCompanies } from './list-companies.ts';
