export { acceptInvitation } from './acceptInvitation.ts';
export { changeRole } from './changeRole.ts';
export { getInvitation } from './getInvitation.ts';
export { inviteMember } from './inviteMember.ts';
export { listTeam } from './listTeam.ts';
export { offerPasswordReset } from './offerPasswordReset.ts';
export { removeMember } from './removeMember.ts';
export { revokeInvitation } from './revokeInvitation.ts';
