export { createPortalOwner } from './createPortalOwner.ts';
