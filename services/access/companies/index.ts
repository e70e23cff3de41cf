export { createCompany } from './create-company.ts';
export { listCompanies } from './list-companies.ts';
