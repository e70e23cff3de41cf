/** The input of the form in `index.html`, which people may have filled in while the code was loading. */
interface BootInput {
  readonly email: string;
  readonly password: string;
  readonly submitted: boolean;
  /** The field that had the focus. */
  readonly focus: 'email' | 'password' | null;
}

/** Reads the input; empty if the form was not there. */
export const readBootInput = (): BootInput => {
  const value = (id: string): string => (document.getElementById(id) as HTMLInputElement | null)?.value ?? '';
  const focused = document.activeElement?.id;
  return {
    email: value('boot-email'),
    password: value('boot-password'),
    submitted: document.documentElement.dataset.bootSubmitted !== undefined,
    focus: focused === 'boot-email' ? 'email' : focused === 'boot-password' ? 'password' : null,
  };
};

/** Removes the frame of `index.html`, once a page is shown in its place. */
export const endBoot = (): void => {
  document.getElementById('boot')?.remove();
  delete document.documentElement.dataset.bootSubmitted;
};
