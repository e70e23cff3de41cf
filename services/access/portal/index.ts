export { createPortalOwner } from './createPortalOwner.ts';
export { resetPortalOwner } from './resetPortalOwner.ts';
