/** Members created by an operator have no name until they choose one. */
export const nameOfMember = ({ name, email }: { readonly name: string; readonly email: string }): string =>
  name || email;
