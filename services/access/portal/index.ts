export { createPortalOwner } from './create-portal-owner.ts';
export { resetPortalOwner } from './reset-portal-owner.ts';
